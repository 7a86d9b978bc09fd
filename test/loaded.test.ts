/** What a command loads. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { onStage, serve, world } from "./harness/stage.ts";
import { text } from "./model-server/reply.ts";

onStage();

/** Its files, and the modules of Node that it asked for. */
async function loadedBy(...args: readonly string[]): Promise<{ files: string[]; builtins: string[] }> {
  const [preload, told] = [join(world.dir, "preload.cjs"), join(world.dir, "loaded.json")];
  const list = "{ files: Object.keys(require.cache), builtins: process.moduleLoadList }";
  const write = `require("node:fs").writeFileSync(${JSON.stringify(told)}, JSON.stringify(${list}))`;
  writeFileSync(preload, `process.on("exit", () => ${write});`);
  await world.crux([...args], { env: { NODE_OPTIONS: `--require ${preload}` } });
  const { files, builtins } = JSON.parse(readFileSync(told, "utf8"));
  const others = (files as string[]).filter((file) => file !== preload).map((file) => basename(file));
  return { files: others, builtins };
}

it("`crux ps` loads two files of its own, and neither a database, HTTP nor TLS; `version -q` one", async () => {
  // the daemon that the first one starts is not looked at
  await serve(text("never"));
  await world.crux(["ps"]);
  const ps = await loadedBy("ps");
  expect(ps.files).toEqual(["main.cjs", "ps.cjs"]);
  for (const name of ["sqlite", "http", "https", "tls", "child_process"])
    expect(ps.builtins).not.toContain(`NativeModule ${name}`);
  expect((await loadedBy("version", "-q")).files).toEqual(["main.cjs"]);
});
