/**
 * A world full of OS processes that do not want to go: natives that ignore what may be ignored, half of which start others in
 * sessions of their own, without the daemon's marks, and MCP servers from npm, which know nothing of us.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandOf, naming } from "../../src/dev/host/testing.ts";
import { Wire } from "./wire.ts";
import { settled, type World } from "./world.ts";

export const NATIVES = 50;
/** One in two has started another. */
const PROGRAMS = NATIVES * 1.5;
const SERVERS = ["everything", "filesystem", "memory", "memory", "memory"];

const DEAF = "trap '' TERM HUP INT QUIT";
const WAITS = "while :; do sleep 300; done";
const ESCAPES = `(env -i setsid bash -c "${DEAF}; ${WAITS}" TAG >/dev/null 2>&1 &)`;

export interface Stubborn {
  readonly world: World;
  /** Living OS processes of this world and of what it started, the daemon and whoever keeps a program among them. */
  left(): number[];
}

/** Resolves when all of them run and are connected. */
export async function startStubborn(world: World): Promise<Stubborn> {
  const tag = `stubborn-${world.dir.split("-").at(-1)}`;
  const script = (text: string): string[] => ["bash", "-c", text.replaceAll("TAG", tag), tag];
  const half = { replicas: NATIVES / 2, restart: "temporary" };
  const services = {
    deaf: { ...half, command: script(`${DEAF}; ${WAITS}`) },
    fled: { ...half, command: script(`${DEAF}; ${ESCAPES}; ${WAITS}`) },
  };
  await using wire = await Wire.open(world.socket);
  const up = { file: { name: "stubborn", services }, dir: world.work, detach: true, env: world.env };
  await expectOk(wire, "compose.up", up);
  while ((await wire.next()) !== undefined) {
    // to the end of the stream: it is up
  }
  await mountServers(world);
  // keepers have the same words behind their own
  const programs = (): number =>
    naming(tag).filter((pid) => /^(?:\S*\/)?bash -c /.test(commandOf(pid))).length;
  const found = await settled(programs, (count) => count >= PROGRAMS);
  if (found !== PROGRAMS) throw new Error(`${found} programs run instead of ${PROGRAMS}`);
  return { world, left: () => [...new Set([...world.processes(), ...naming(tag)])] };
}

async function mountServers(world: World): Promise<void> {
  for (const [at, server] of SERVERS.entries()) {
    const place = `../../node_modules/@modelcontextprotocol/server-${server}/dist/index.js`;
    const config = {
      type: "stdio",
      command: process.execPath,
      args: [
        fileURLToPath(new URL(place, import.meta.url)),
        ...(server === "filesystem" ? [world.work] : []),
      ],
      env: { MEMORY_FILE_PATH: join(world.dir, `memory-${at}.json`) },
    };
    await using wire = await Wire.open(world.socket);
    await expectOk(wire, "mcp.mount", { path: `/mnt/mcp/server-${at}`, config });
  }
  const connected = async (): Promise<number> => {
    await using wire = await Wire.open(world.socket);
    const { mounts } = (await wire.ask("mcp.list"))!.payload as { mounts: { state: string }[] };
    return mounts.filter(({ state }) => state === "connected").length;
  };
  const count = await settled(connected, (each) => each === SERVERS.length);
  if (count !== SERVERS.length) throw new Error(`${count} servers are connected`);
}

async function expectOk(wire: Wire, method: string, payload: unknown): Promise<void> {
  const reply = await wire.ask(method, payload);
  if (reply?.ok !== true) throw new Error(`${method}: ${JSON.stringify(reply)}`);
}
