/** Memory in the booted system: what a run keeps is known to the next one, in the same project only. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LASTING } from "./harness/lasting.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import { attended } from "./harness/wire.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const PLACE = LASTING ?? fileURLToPath(new URL("../node_modules", import.meta.url));
/** Skipped where every folder that could be written is a temporary one. */
const lasting = it.skipIf(LASTING === undefined);

let world: World;
let server: ModelServer;
let base: string;
beforeEach(async () => {
  world = new World();
  base = realpathSync(mkdtempSync(join(PLACE, ".memory-system-")));
  for (const name of ["one", "two"]) mkdirSync(join(base, name, ".git"), { recursive: true });
  server = await startModelServer({ script: inTurn(text("Done.")) });
});
afterEach(async () => {
  await world.close();
  await server.close();
  rmSync(base, { recursive: true, force: true });
});

const crux = (at: string, args: readonly string[], env = {}) =>
  world.crux(args, { cwd: join(base, at), env: { ...modelEnv(server), ...env } });
const asked = (at: number) => server.requests[at]?.rawBody ?? "";
const keep = (dir: string) =>
  toolUse({
    name: "write",
    input: { file_path: join(dir, "MEMORY.md"), content: "- [Tests](tests.md) — NO MOCKS\n" },
  });

/** The folder that the model was told. */
const folder = (): string => /Of this project: (.+?); of the user/.exec(asked(0))?.[1] ?? "";

describe("memory", () => {
  lasting(
    "that a run has written without a question is known to the next run of the project, and to no other",
    async () => {
      await crux("one", ["trust", "--yes"]);
      await crux("one", ["look around"]);
      expect(asked(0)).toContain("Before recommending from memory");
      server.use(inTurn(keep(folder()), text("Done.")));
      expect((await crux("one", ["remember: no mocks"])).code).toBe(0);
      server.requests.length = 0;
      await crux("one", ["go on"]);
      expect(asked(0)).toContain("NO MOCKS");
      server.requests.length = 0;
      await crux("two", ["go on"]);
      expect(asked(0)).not.toContain("NO MOCKS");
      server.requests.length = 0;
      await crux("one", ["go on"], { CRUX_DISABLE_AUTO_MEMORY: "1" });
      expect(asked(0)).not.toContain("Before recommending from memory");
    },
  );

  it("is taken of a session by a fork that reads its cached prefix, writes notes alone and leaves no trace in it", async () => {
    await server.close();
    const notes = (dir: string) => join(dir, "tests.md");
    const asides: ModelRequest[] = [];
    const main: ModelRequest[] = [];
    let dir = "";
    const over = Promise.withResolvers<void>();
    const script = (request: ModelRequest) => {
      if (!request.rawBody.includes("A task of its own")) {
        main.push(request);
        dir = /Of this project: (.+?); of the user/.exec(request.rawBody)?.[1] ?? "";
        return text("Noted: no mocks.");
      }
      asides.push(request);
      const body = "---\nname: tests\ndescription: how tests are written\ntype: feedback\n---\nNO MOCKS";
      const write = (file: string, content: string) =>
        toolUse({ name: "write", input: { file_path: file, content } });
      if (asides.length === 1)
        return write(join(base, "one", "stray.md"), "x").and(
          write(notes(dir), body),
          toolUse({ name: "bash", input: { command: "touch ran" } }),
        );
      over.resolve();
      return text("done");
    };
    server = await startModelServer({ script, promptCache: { minTokens: 64 } });
    const env = modelEnv(server, "anthropic");
    const at = { cwd: join(base, "one"), env };
    await world.crux(["trust", "--yes"], at);
    const told = { cwd: at.cwd, env: { ...world.env, ...env } };
    const { wire, said } = await attended(world.socket, "we never mock the database", told);
    expect(said).toContain("no mocks");
    await over.promise;
    await wire.close();
    const [first] = asides;
    const [asked] = main;
    expect(first?.body.system).toEqual(asked?.body.system);
    expect(first?.body.tools).toEqual(asked?.body.tools);
    const { read = 0, write = 0, input = 0 } = first?.cache ?? {};
    expect(read).toBeGreaterThan(0);
    expect(read / (read + write + input)).toBeGreaterThan(0.8);
    const results = asides[1]?.lastToolResults.map(({ isError }) => isError);
    expect(results).toEqual([true, false, true]);
    expect(readFileSync(notes(dir), "utf8")).toContain("NO MOCKS");
    expect([existsSync(join(base, "one", "stray.md")), existsSync(join(base, "one", "ran"))]).toEqual([
      false,
      false,
    ]);
    const shown = JSON.parse((await world.crux(["ps", "-a", "--json", "--verbose"], at)).stdout).data
      .processes;
    const [session] = shown.filter(({ ppid }: { ppid: number }) => ppid === 0);
    const context = await world.crux(["context", String(session.pid), "--messages"], at);
    expect(context.stdout).not.toContain("A task of its own");
    const [aside] = shown.filter(({ ppid }: { ppid: number }) => ppid === session.pid);
    await world.crux(["wait", String(aside.pid)], at);
    await world.crux(["kill", String(session.pid)], at);
    for (const { pid } of [session, aside])
      expect((await world.crux(["replay", String(pid)], at)).stdout).toContain("0 differences");
  });

  it("is not taken where nobody is there: a run of a script ends with its answer", async () => {
    const at = { cwd: join(base, "one"), env: modelEnv(server, "anthropic") };
    await world.crux(["trust", "--yes"], at);
    for (const args of [["-p"], ["-p", "-c"]])
      expect((await world.crux([...args, "we never mock the database"], at)).stdout).toBe("Done.\n");
    const { stdout } = await world.crux(["ps", "-a", "--json", "--verbose"], at);
    expect(JSON.parse(stdout).data.processes).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
  });

  it("of an agent itself is written with tools for it alone, and known to its next run and to no other agent", async () => {
    const agents = join(world.dir, "config/crux/agents");
    mkdirSync(agents, { recursive: true });
    const head = "name: keeper\ntools: grep\nmemory: user";
    writeFileSync(join(agents, "keeper.md"), `---\n${head}\n---\nKeep.`);
    await crux("one", ["trust", "--yes"]);
    const own = join(world.dir, "config/crux/memory/user/agents/keeper");
    const stray = join(base, "one", "stray.md");
    const write = (path: string) =>
      toolUse({ name: "write", input: { file_path: path, content: "- [Nits](nits.md) — NO NITS\n" } });
    server.use(inTurn(write(join(own, "MEMORY.md")).and(write(stray)), text("Done.")));
    await crux("one", ["--agent", "keeper", "--permission-mode", "bypass", "remember"]);
    expect(asked(0)).toContain("Your own notes");
    expect(server.requests[1]?.lastToolResults.map(({ content }) => content)).toEqual([
      expect.not.stringContaining("Permission denied"),
      expect.stringContaining("is not one of its own notes"),
    ]);
    expect([existsSync(join(own, "MEMORY.md")), existsSync(stray)]).toEqual([true, false]);
    const shown = JSON.parse((await crux("one", ["ps", "-a", "--json", "--verbose"])).stdout).data.processes;
    const { pid } = shown.at(-1);
    expect((await crux("one", ["replay", String(pid)])).stdout).toContain("0 differences");
    server.requests.length = 0;
    await crux("two", ["--agent", "keeper", "go on"]);
    expect(asked(0)).toContain("NO NITS");
    server.requests.length = 0;
    await crux("two", ["--agent", "keeper", "go on"], { CRUX_DISABLE_AUTO_MEMORY: "1" });
    expect(asked(0)).not.toContain("NO NITS");
    expect(asked(0)).not.toContain('"write"');
    server.requests.length = 0;
    await crux("one", ["go on"]);
    expect(asked(0)).not.toContain("NO NITS");
    expect((await crux("one", ["memory"])).stdout).toMatch(/keeper\/MEMORY\.md +you/);
  });

  lasting("is recalled where the user's words are about a note, and counted as memory", async () => {
    await crux("one", ["trust", "--yes"]);
    await crux("one", ["look around"]);
    const note =
      "---\nname: database-tests\ndescription: how tests use the database\ntype: feedback\n---\nNO MOCKS";
    const write = { file_path: join(folder(), "database-tests.md"), content: note };
    server.use(inTurn(toolUse({ name: "write", input: write }), text("Done.")));
    await crux("one", ["remember it"]);
    server.requests.length = 0;
    server.use(inTurn(text("Done.")));
    await crux("one", ["write a test of the database layer"]);
    expect(asked(0)).toContain("NO MOCKS");
    server.requests.length = 0;
    await crux("one", ["make the colours of the page lighter"]);
    expect(asked(0)).not.toContain("NO MOCKS");
  });

  lasting(
    "that the user turns off for a session is neither told nor reached, until it is on again",
    async () => {
      await crux("one", ["trust", "--yes"]);
      await crux("one", ["look around"]);
      mkdirSync(folder(), { recursive: true });
      const note = join(folder(), "database-tests.md");
      writeFileSync(join(folder(), "MEMORY.md"), "- [Tests](database-tests.md) — THE INDEX\n");
      writeFileSync(
        note,
        "---\nname: database-tests\ndescription: tests of the database\ntype: feedback\n---\nNO MOCKS",
      );
      const open = async (text: string) => {
        server.requests.length = 0;
        expect((await crux("one", ["-c", "-q", text])).code).toBe(0);
        return asked(0);
      };
      const before = await world.crux(["chat", "-q"], {
        cwd: join(base, "one"),
        env: modelEnv(server),
        stdin: "write a test of the database layer",
      });
      expect(before.code).toBe(0);
      expect(server.requests.at(-1)?.rawBody).toContain("NO MOCKS");
      const pid = "2";
      expect((await crux("one", ["memory", "off", pid])).stdout).toContain(`off for process ${pid}`);
      server.use(inTurn(text(""), toolUse({ name: "view", input: { file_path: note } }), text("Done.")));
      const quiet = await open("another test of the database layer");
      for (const words of ["THE INDEX", "NO MOCKS", "Before recommending"])
        expect(quiet).not.toContain(words);
      expect(asked(1)).toContain("turned off for this process");
      process.kill(world.daemonPid!, "SIGKILL");
      server.use(inTurn(text("Done.")));
      expect(await open("and now?")).not.toContain("THE INDEX");
      expect((await crux("one", ["memory", "on", pid])).code).toBe(0);
      const again = await open("and again?");
      expect(again).toContain("THE INDEX");
      expect(again).toContain("NO MOCKS");
      expect((await crux("one", ["replay", pid])).stdout).toContain("0 differences");
    },
  );

  it("is not written unasked in a folder that is not trusted", async () => {
    await crux("one", ["look around"]);
    server.use(inTurn(keep(folder()), text("Done.")));
    server.requests.length = 0;
    await crux("one", ["remember: no mocks"]);
    expect(asked(1)).toContain("Permission denied");
  });
});
