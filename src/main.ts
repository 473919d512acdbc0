#!/usr/bin/env node
import { commands } from './cli/index.ts';
import { start } from './cli/program.ts';

await start({ dir: import.meta.dirname, commands });
