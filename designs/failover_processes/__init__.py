"""An experiment with coordinators of both designs of groups, as processes; see README.md."""
