from tests.golden.frames import BY_API as BY_API
