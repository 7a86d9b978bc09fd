/** Whose a connection is, told by real processes at the other end of a real socket. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hasProcfs } from "../procfs.ts";
import { type HostPeer, Peers } from "./peer.ts";

const CONNECT =
  "const s = require('node:net').connect(process.argv[1]); s.on('data', () => {}); s.on('error', () => {});";
const MARK = "CRUX_OWNER=k-peer-test:";

let dir: string;
let server: net.Server;
let connection: Promise<net.Socket>;
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "crux-peer-"));
  server = net.createServer();
  connection = once(server, "connection").then(([socket]) => socket as net.Socket);
  server.listen(join(dir, "s"));
  await once(server, "listening");
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  (await Promise.race([connection, Promise.resolve(undefined)]))?.destroy();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true, force: true });
});

const fdOf = (socket: net.Socket): number => (socket as unknown as { _handle: { fd: number } })._handle.fd;

function start(argv: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: "ignore" });
  children.push(child);
  return child;
}

const connecting = () => [process.execPath, "-e", CONNECT, join(dir, "s")];
const quoted = () =>
  connecting()
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(" ");

async function seen(peers: Peers): Promise<HostPeer> {
  return peers.of(fdOf(await connection));
}

describe.skipIf(!hasProcfs || process.platform !== "linux")("Peers", () => {
  test("names the process that an OS child belongs to, also for a child of a child with another environment", async () => {
    const leader = start(["sh", "-c", `env -i ${quoted()}; true`]);
    const peers = new Peers({ ownerOf: (pid) => (pid === leader.pid ? "u1" : undefined), mark: MARK });
    expect(peers.areRead).toBe(true);
    expect(await seen(peers)).toEqual({ kind: "child", uuid: "u1" });
  });

  test("a child of this process that is none of those it started on purpose is nobody's", async () => {
    start(connecting());
    expect(await seen(new Peers({ ownerOf: () => undefined, mark: MARK }))).toEqual({
      kind: "child",
      uuid: null,
    });
  });

  test("one who left its line of descent is known by its mark, and by none it is the user's own", async () => {
    const leaving = `(setsid ${quoted()} >/dev/null 2>&1 &)`;
    const shell = start(["sh", "-c", leaving], { CRUX_OWNER: "k-peer-test:3" });
    await once(shell, "exit");
    const socket = await connection;
    const peers = (mark: string) => new Peers({ ownerOf: () => undefined, mark });
    expect(peers(MARK).of(fdOf(socket))).toEqual({ kind: "child", uuid: null });
    expect(peers("CRUX_OWNER=another:").of(fdOf(socket))).toEqual({ kind: "own", uid: process.getuid?.() });
    socket.end("over");
  });

  test("itself is its own, one who has gone is gone, another user is that", async () => {
    const own = net.connect(join(dir, "s"));
    const peers = new Peers({ ownerOf: () => undefined, mark: MARK });
    expect(await seen(peers)).toEqual({ kind: "own", uid: process.getuid?.() });
    own.destroy();
    const read = (uid: number, pid: number) =>
      new Peers({ ownerOf: () => undefined, mark: MARK, uid: 5, read: () => ({ uid, pid }) }).of(3);
    expect(read(5, 2 ** 22 + 1)).toEqual({ kind: "gone" });
    expect(read(6, 1)).toEqual({ kind: "other_user", uid: 6 });
    // of another pid namespace
    expect(read(5, 0)).toEqual({ kind: "own", uid: 5 });
  });

  test("what cannot be read is unknown", () => {
    const peers = new Peers({ ownerOf: () => undefined, mark: MARK, read: undefined });
    expect([peers.areRead, peers.of(3)]).toEqual([false, { kind: "unknown" }]);
    expect(new Peers({ ownerOf: () => undefined, mark: MARK }).of(-1)).toEqual({ kind: "unknown" });
  });
});
