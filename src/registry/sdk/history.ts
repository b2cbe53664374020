export type { Created, Exercised, History, Update } from "../../domain/history.js";
