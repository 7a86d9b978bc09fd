/** What a command loads. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { onStage, serve, world } from "./harness/stage.ts";
import { text } from "./model-server/reply.ts";

onStage();

interface LoadedFiles {
  readonly files: readonly string[];
  /** Of which V8 has taken the code that the build has kept. */
  readonly withCode: readonly string[];
  readonly builtins: readonly string[];
}

/** Its files, and the modules of Node that it asked for. */
async function loadedBy(...args: readonly string[]): Promise<LoadedFiles> {
  const [preload, told] = [join(world.dir, "preload.cjs"), join(world.dir, "loaded.json")];
  const list = "{ files: Object.keys(require.cache), withCode, builtins: process.moduleLoadList }";
  const write = `require("node:fs").writeFileSync(${JSON.stringify(told)}, JSON.stringify(${list}))`;
  const note = "if (this.cachedDataRejected === false) withCode.push(options.filename);";
  const script = `class extends vm.Script { constructor(text, options) { super(text, options); ${note} } }`;
  const lines = [
    'const [vm, withCode] = [require("node:vm"), []];',
    `vm.Script = ${script};`,
    `process.on("exit", () => ${write});`,
  ];
  writeFileSync(preload, lines.join("\n"));
  await world.crux([...args], { env: { NODE_OPTIONS: `--require ${preload}` } });
  const { files, withCode, builtins } = JSON.parse(readFileSync(told, "utf8"));
  const names = (paths: readonly string[]) =>
    paths.filter((path) => path !== preload).map((path) => basename(path));
  return { files: names(files), withCode: names(withCode), builtins };
}

it("`crux ps` and `crux version` load a file of their own with its code, and neither a database, HTTP nor TLS", async () => {
  // the daemon that the first one starts is not looked at
  await serve(text("never"));
  await world.crux(["ps"]);
  const ps = await loadedBy("ps");
  expect([ps.files, ps.withCode]).toEqual([["main.cjs"], ["ps.cjs"]]);
  const version = await loadedBy("version");
  expect([version.files, version.withCode]).toEqual([["main.cjs"], ["version.cjs"]]);
  for (const name of ["sqlite", "http", "https", "tls", "child_process"])
    for (const { builtins } of [ps, version]) expect(builtins).not.toContain(`NativeModule ${name}`);
  const quiet = await loadedBy("version", "-q");
  expect([quiet.files, quiet.withCode]).toEqual([["main.cjs"], []]);
});

it("what a command throws away soon makes it no larger: its young generation stays at two halves of two megabytes", async () => {
  await serve(text("never"));
  const [preload, told] = [join(world.dir, "preload.cjs"), join(world.dir, "heap.json")];
  const churn = "for (let n = 0; n < 2e6; n++) kept[n % 4e5] = { n };";
  const space = 'require("node:v8").getHeapSpaceStatistics().find((s) => s.space_name === "new_space")';
  const write = `require("node:fs").writeFileSync(${JSON.stringify(told)}, JSON.stringify(${space}))`;
  writeFileSync(preload, `process.on("exit", () => { const kept = []; ${churn} ${write}; });`);
  await world.crux(["version"], { env: { NODE_OPTIONS: `--require ${preload}` } });
  expect(JSON.parse(readFileSync(told, "utf8")).space_size).toBeLessThanOrEqual(4 * 2 ** 20);
});

it("a daemon keeps what V8 has compiled, and the next one takes it: it has nothing to write", async () => {
  await serve(() => text("said"));
  const cache = join(world.dir, "cache");
  world.env.XDG_CACHE_HOME = cache;
  const keptBy = async (): Promise<Record<string, number>> => {
    await world.crux(["run", "say it"]);
    await world.crux(["daemon", "stop"]);
    expect(await world.left(0)).toEqual([]);
    const folder = readdirSync(join(cache, "crux")).find((name) => name.startsWith("code-")) ?? "";
    const path = (name: string) => join(cache, "crux", folder, name);
    const files = readdirSync(path("")).map((name) => ({ name, stat: statSync(path(name)) }));
    return Object.fromEntries(files.map(({ name, stat }) => [name, stat.ino]));
  };
  const first = await keptBy();
  expect(Object.keys(first)).toEqual(expect.arrayContaining(["boot.cjs", "daemon.cjs"]));
  expect(await keptBy()).toEqual(first);
});
