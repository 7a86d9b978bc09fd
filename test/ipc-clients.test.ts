/** The clients of the binary wire in other languages: each runs a program through the kernel, for real. */
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { connectKernel } from "../src/wire/client/kernel.ts";
import { beforeTries } from "./harness/stage.ts";
import { World } from "./harness/world.ts";

const run = promisify(execFile);
const clients = fileURLToPath(new URL("../clients", import.meta.url));

let world: World;
beforeTries(
  async () => {
    world = new World();
    await world.crux(["ps"]);
  },
  () => world.close(),
);

const python = spawnSync("python3", ["--version"]).status === 0;
it.skipIf(!python)("the client in Python runs a program through the kernel (needs python3)", async () => {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await run("python3", [join(clients, "python/example.py"), world.socket], { env });
  expect(stdout.split("\n")).toEqual([
    "crux 1 user",
    "NOT_FOUND False",
    "a",
    "b",
    "c",
    "0",
    "round trip",
    "True",
    "",
  ]);
});

/** What a program has that knows the protocol's description alone, but for the library of its language. */
const PLAIN = `
import os, socket, struct, msgpack
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["CRUX_IPC_SOCKET"]); f = s.makefile("rwb")
def call(id, method, params={}):
    body = msgpack.packb({"id": id, "method": method, "params": params})
    f.write(struct.pack(">2sBBI", b"KA", 1, 1, len(body)) + body); f.flush()
    while True:
        magic, version, kind, length = struct.unpack(">2sBBI", f.read(8))
        reply = msgpack.unpackb(f.read(length))
        if kind == 2 and reply["id"] == id: return reply
print(call("1", "system.get_metrics")["result"])
`;
it.skipIf(!python)("a program of twelve lines calls the kernel (needs python3)", async () => {
  const folder = join(world.dir, "plain");
  mkdirSync(folder);
  const library = "from crux_ipc import pack as packb, unpack\ndef unpackb(data): return unpack(data)[0]\n";
  writeFileSync(join(folder, "msgpack.py"), library);
  writeFileSync(join(folder, "plain.py"), PLAIN);
  const paths = { PYTHONPATH: join(clients, "python"), PYTHONDONTWRITEBYTECODE: "1" };
  const env = { ...process.env, ...paths, CRUX_IPC_SOCKET: world.socket };
  const { stdout } = await run("python3", [join(folder, "plain.py")], { env });
  expect(stdout).toMatch(/^\{'at': \d+, .*'cpu': \{.*'kernel': \{/);
});

const HEADER = { input: "#include <stdio.h>\n" };
const cc = spawnSync("cc", ["-x", "c", "-fsyntax-only", "-"], HEADER).status === 0;
it.skipIf(!cc)("the client in C runs a program through the kernel (needs cc)", async () => {
  const program = join(world.work, "example");
  const flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"];
  await run("cc", [...flags, "-o", program, join(clients, "c/example.c")]);
  const { stdout } = await run(program, [world.socket]);
  expect(stdout.split("\n")).toEqual([
    "crux 1 user",
    "NOT_FOUND false",
    "a",
    "b",
    "c",
    "0",
    "round trip",
    "true",
    "",
  ]);
});

describe("crux/client", () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  /** A folder of another project, in which the package is installed. */
  const foreign = () => join(world.dir, "foreign");
  beforeTries(() => {
    const installed = join(foreign(), "node_modules/crux");
    mkdirSync(join(installed, "dist"), { recursive: true });
    for (const path of ["package.json", "dist/client.js", "dist/types"])
      cpSync(join(root, path), join(installed, path), { recursive: true });
    for (const name of ["zod", "@types"])
      symlinkSync(join(root, "node_modules", name), join(foreign(), "node_modules", name));
    writeFileSync(join(foreign(), "package.json"), JSON.stringify({ type: "module" }));
    const [, example = ""] =
      /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, "docs/kernel-ipc.md"), "utf8")) ?? [];
    writeFileSync(join(foreign(), "example.mjs"), example);
    writeFileSync(join(foreign(), "example.mts"), example);
  });

  it("is part of what is packed", () => {
    const { files, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(files).toContain("dist");
    expect(Object.values(exports["./client"])).toEqual([
      "./dist/types/wire/client/kernel.d.ts",
      "./dist/client.js",
    ]);
  });

  it("is imported by another project, with any Node there is; the example of its page runs", async () => {
    const env: NodeJS.ProcessEnv = { ...process.env, CRUX_SOCKET: world.socket };
    // the one that npm was started with, which may be older than that of the project
    const path =
      env.PATH?.split(":")
        .filter((dir) => !dir.endsWith("node_modules/.bin"))
        .join(":") ?? "";
    const older = spawnSync("node", ["--version"], { env: { ...env, PATH: path } });
    const isFit = /^v(2\d|[3-9]\d)\./.test(String(older.stdout));
    const { stdout } = await run(isFit ? "node" : process.execPath, ["example.mjs"], {
      cwd: foreign(),
      env: isFit ? { ...env, PATH: path } : env,
    });
    const said = ["hello you", "bye", "exit 3", "example.done { exitCode: 3 }", "NOT_FOUND false", ""];
    expect(stdout.split("\n")).toEqual(said);
  });

  it("has types: the example compiles, a wrong parameter does not", async () => {
    const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const compiled = (name: string) =>
      run(process.execPath, [tsc, ...flags, "--skipLibCheck", name], { cwd: foreign() });
    await compiled("example.mts");
    const wrong =
      'import { connect } from "crux/ipc"; await (await connect()).call("process.wait", { pid: "1" });';
    writeFileSync(join(foreign(), "wrong.mts"), wrong);
    await expect(compiled("wrong.mts")).rejects.toMatchObject({ stdout: expect.stringContaining("TS2322") });
  });

  it("goes on over lost connections: each byte and each event once, each request once; a signal cancels", async () => {
    const open = new Set<Socket>();
    const relay = createServer((near) => {
      const far = createConnection(world.socket);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        open.add(from);
        from.pipe(to);
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
      }
    });
    const path = join(world.dir, "relay.sock");
    await new Promise<void>((listening) => void relay.listen(path, listening));
    const cut = () => {
      for (const socket of open) socket.destroy();
      open.clear();
    };
    const kernel = await connectKernel(path, { reconnect: true });
    const command = ["sh", "-c", "while read n; do echo line $n; done"];
    const { pid } = await kernel.call("process.spawn", { id: "lines", command });
    const lines = kernel.lines({ pid })[Symbol.asyncIterator]();
    const events = kernel.events({ events: ["relay.*"] })[Symbol.asyncIterator]();
    const got: unknown[] = [];
    for (let n = 0; n < 5; n++) {
      const sent = kernel.call("process.stdin.write", { pid, data: `${n}\n` });
      if (n % 2 === 1) cut();
      await sent;
      await kernel.call("event.publish", { event: "relay.sent", data: { n } });
      got.push((await lines.next()).value, (await events.next()).value?.data);
    }
    expect(got).toEqual(Array.from({ length: 5 }, (_, n) => [`line ${n}`, { n }]).flat());
    const stop = new AbortController();
    const waiting = kernel.call("process.wait", { pid }, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await kernel.call("process.stdin.write", { pid, data: "", eof: true });
    expect((await lines.next()).done).toBe(true);
    kernel.close();
    await expect(events.next()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    cut();
    relay.close();
  });
});
