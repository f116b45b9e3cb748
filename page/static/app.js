import * as api from "./api.js";
import {exchanges} from "./exchanges.js";

// a view is one file and one line here
const VIEWS = [exchanges];

const found = await api.source().catch(problem => ({name: problem.message}));
document.getElementById("source").textContent = found.name;
document.title = `${found.name} – barnabas`;
VIEWS[0](document.querySelector("main"));
