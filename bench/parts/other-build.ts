/** A build of the daemon with other modules in the place of its own: for measurements; the product knows no such switch. */
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAsCommonJs, DAEMON } from "../../scripts/commonjs.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOUBLES = join(ROOT, "bench/doubles");

/** `double`: a module of bench/doubles, in the place of `replaced`, one of src/. The path of the `dist` that was made below `dir`. */
export async function buildWith(replaced: string, double: string, dir: string): Promise<string> {
  const original = join(ROOT, "src", replaced);
  const dist = join(dir, "dist");
  mkdirSync(dir, { recursive: true });
  cpSync(join(ROOT, "dist"), dist, { recursive: true });
  for (const name of ["lib", "node_modules", "package.json"]) symlinkSync(join(ROOT, name), join(dir, name));
  await buildAsCommonJs({
    ...DAEMON,
    absWorkingDir: ROOT,
    outdir: dist,
    logLevel: "error",
    plugins: [
      {
        name: "double",
        setup: (made) =>
          made.onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
            const isMeant = resolve(resolveDir, path) === original && resolveDir !== DOUBLES;
            return isMeant ? { path: join(DOUBLES, double) } : undefined;
          }),
      },
    ],
  });
  return dist;
}
