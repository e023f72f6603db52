#!/usr/bin/env node
import { runCommand } from './run-command.js'

runCommand(process.argv.slice(2))
