/** Other instances are off: a daemon that works for a session listens at no port, only at sockets of its user. */

import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { onStage, serveInTurn, world } from "./harness/stage.ts";
import { text } from "./model-server/reply.ts";

onStage();

/** The state of a TCP socket that listens, as /proc/net/tcp has it. */
const LISTENS = "0A";

/** TCP ports at which the process listens, and all of its UDP ports. */
function portsOf(pid: number): readonly string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  return ["tcp", "tcp6", "udp", "udp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(
        ([, , , state, , , , , , inode = ""]) =>
          (table.startsWith("udp") || state === LISTENS) && inodes.has(inode),
      )
      .map(([, local = ""]) => `${table} ${local}`),
  );
}

it.skipIf(process.platform !== "linux")("no port of the daemon is open", async () => {
  await serveInTurn(text("Hello."));
  expect((await world.crux(["-p", "hello"])).stdout).toBe("Hello.\n");
  expect(portsOf(world.daemonPid!)).toEqual([]);
  // what this test sees of a process that has one
  const open = createServer().listen(0, "127.0.0.1");
  await once(open, "listening");
  expect(portsOf(process.pid).length).toBeGreaterThan(0);
  open.close();
});
