#!/usr/bin/env node
// The command, as npm installs it; TypeScript runs as it is from Node 22.19 on.
import "../src/main.ts";
