// Corrects a JSON list of sentences from standard input with Harper: the first suggestion of each lint.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (file) => import(pathToFileURL(join(process.argv[2], "dist", file)).href);
const { LocalLinter } = await load("index.js");
const { binaryInlined } = await load("binaryInlined.js");

const linter = new LocalLinter({ binary: binaryInlined });
await linter.setup();
const corrected = [];
for (const text of JSON.parse(readFileSync(0, "utf8"))) {
  const lints = await linter.lint(text, { language: "plaintext" });
  // From the end backward, so that the places of those before stay true; of two that overlap, the later.
  const found = lints
    .filter((lint) => lint.suggestion_count() > 0)
    .sort((a, b) => b.span().start - a.span().start);
  let result = text;
  let next = Infinity;
  for (const lint of found) {
    if (lint.span().end > next) continue;
    result = await linter.applySuggestion(result, lint, lint.suggestions()[0]);
    next = lint.span().start;
  }
  corrected.push(result.replace(/\s+/g, " ").trim());
}
process.stdout.write(JSON.stringify(corrected));
