// Makes ../libraries.js, ../LICENSES.txt and the accessibility checker of the tests from what package-lock.json pins.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const AXE = "../../../../../tests/scenarios/studies/report/axe.min.js";
const digest = (text) => createHash("sha256").update(text).digest("hex");
const read = (path) => readFileSync(path, "utf8");

const { outputFiles, metafile } = await build({
  entryPoints: ["entry.js"], bundle: true, minify: true, format: "iife", globalName: "libraries", target: "es2020",
  charset: "ascii", legalComments: "none", metafile: true, write: false,
});
// A page has the bundle inside <script>…</script>.
const body = outputFiles[0].text.replaceAll("</script", "<\\/script").trimEnd() + "\n";
const inputs = ["package-lock.json", "entry.js", "bundle.js"].map((name) => ` * ${name} ${digest(read(name))}\n`).join("");
writeFileSync("../libraries.js", `/*\n * Built by npm run bundle; the licences are in LICENSES.txt.\n${inputs} * below ${digest(body)}\n */\n${body}`);

// Licences of the packages that have code in the bundle.
const names = new Set(Object.entries(Object.values(metafile.outputs)[0].inputs)
  .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && path.startsWith("node_modules/"))
  .map(([path]) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)[1]));
const licences = [...names].sort().map((name) => {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(read(`${folder}/package.json`));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file || !existsSync(`${folder}/${file}`)) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${read(`${folder}/${file}`).trim()}\n`;
});
writeFileSync("../LICENSES.txt", licences.join(`\n${"-".repeat(78)}\n\n`));

writeFileSync(AXE, read("node_modules/axe-core/axe.min.js"));
console.log(`libraries.js ${(body.length / 1000).toFixed(0)} kB of ${names.size} packages`);
