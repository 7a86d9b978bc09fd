/** `.md` files are imported as text, as the build does, where Node itself loads the modules. Once for each worker. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  load(url, context, next) {
    if (!url.endsWith(".md")) return next(url, context);
    const source = `export default ${JSON.stringify(readFileSync(fileURLToPath(url), "utf8"))};`;
    return { format: "module", shortCircuit: true, source };
  },
});
