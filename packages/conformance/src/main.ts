#!/usr/bin/env node
/** `offledger-conformance`: checks a registry of the token standard. */
import { conformance } from "./command.js";

process.exitCode = await conformance(process.argv.slice(2));
