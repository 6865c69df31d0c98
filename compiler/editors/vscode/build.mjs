// Bundles the extension, and each test, into one file that Node can run; the licences of bundled libraries lie beside it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", external: ["vscode"], logLevel: "warning" };
const made = await build({ ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", minify: true, metafile: true });
const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
await build({ ...common, entryPoints: tests.map((name) => `test/${name}`), outdir: "dist/test" });

const folders = Object.keys(made.metafile.inputs).map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
const licences = [...new Set(folders.filter(Boolean))].sort().map((folder) => {
  const name = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (name === undefined) throw new Error(`${folder} has no licence`);
  return `${folder.replace(/^.*node_modules\//, "")}\n\n${readFileSync(join(folder, name), "utf8").trim()}\n`;
});
writeFileSync("dist/LICENSES.txt", licences.join("\n---\n\n"));
