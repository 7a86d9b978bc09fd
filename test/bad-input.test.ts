/** What is wrong is refused in the documented words, at the command line and on the raw wire; the daemon goes on. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { beforeTries } from "./harness/stage.ts";
import { type Reply, Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";

let world: World;
let daemonPid: number | undefined;

beforeTries(
  async () => {
    world = new World();
    await world.crux(["ps"]);
    daemonPid = world.daemonPid;
  },
  () => world.close(),
);
afterEach(async () => {
  await using wire = await Wire.open(world.socket);
  expect(await wire.ask("ping")).toEqual({ ok: true, payload: { version: expect.any(String) } });
  expect(world.daemonPid).toBe(daemonPid);
  expect(world.log()).not.toMatch(/ error /);
});

const refused = (code: string, message: string | RegExp) => ({
  ok: false,
  error: expect.objectContaining({
    code,
    message: typeof message === "string" ? message : expect.stringMatching(message),
  }),
});

describe("at the command line", () => {
  const agent = (name: string, yaml: string, instructions = "Work.\n"): void => {
    const dir = join(world.dir, "config/crux/agents", name);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "agent.yaml"), yaml);
    writeFileSync(join(dir, "instructions.md"), instructions);
  };
  async function failure(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await world.crux(args);
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: "" });
    return stderr;
  }

  it("an agent that is not there is NOT_FOUND and names those that are", async () => {
    const stderr = await failure("--agent", "nobody", "x");
    expect(stderr).toMatch(
      /^✗ \[NOT_FOUND\] .*agent not found: nobody\. Agents here: .*code-analyst.*general-purpose/,
    );
    expect(stderr).toMatch(/\n {2}→ hint: \S/);
  });

  it("an agent file that is not YAML is INVALID and names the line", async () => {
    agent("broken", "name: broken\ndescription: fine\nskills: [a, b\nmax_steps: 3\n");
    expect(await failure("--agent", "broken", "x")).toMatch(/^✗ \[INVALID\] .*agent\.yaml:[345]:\d+: /);
  });

  it("an agent file with a wrong value is INVALID and names the key", async () => {
    agent("wrong", "name: wrong\nmax_steps: many\n");
    expect(await failure("--agent", "wrong", "x")).toMatch(/^✗ \[INVALID\] .*agent\.yaml.*max_steps/);
  });

  it.each(["../general-purpose", "..", "/etc", "a/b", "a\\b", ".hidden"])(
    "an agent name that could leave its folder is INVALID: %s",
    async (name) => {
      expect(await failure("--agent", name, "x")).toMatch(/^✗ \[INVALID\] /);
    },
  );

  it.each([
    [["kill", "999999"], /^✗ \[NOT_FOUND\] PID 0 Kill: process not found: 999999\n {2}→ hint: crux ps/],
    [["astrace", "999999"], /^✗ \[NOT_FOUND\] .*process not found: 999999\n/],
    [["kill", "0"], /^✗ \[(?:INVALID|PERMISSION|NOT_FOUND)\] /],
    [["kill", "x"], /^✗ \[INVALID\] not a pid: x\n/],
    [["kill", "-1"], /^✗ \[INVALID\] /],
    [["kill", "1.5"], /^✗ \[INVALID\] not a pid: 1\.5\n/],
    [["kill"], /^✗ \[INVALID\] a pid is missing\n/],
    [["kill", "1", "2"], /^✗ \[INVALID\] one pid at a time: 1 2\n/],
    [["kill", "-s", "SIGNONSENSE", "1"], /^✗ \[INVALID\] unknown signal: SIGNONSENSE\n/],
    [["kill", "-s", "6", "1"], /^✗ \[INVALID\] unknown signal: 6\n/],
    [["ps", "more"], /^✗ \[INVALID\] unknown argument: more\n/],
    [["ps", "--bogus"], /^✗ \[INVALID\] unknown flag: --bogus\n/],
    [["version", "x"], /^✗ \[INVALID\] unknown argument: x\n/],
    [["--permission-mode", "root", "x"], /^✗ \[INVALID\] unknown permission mode: root\n/],
    [["--cwd", "/nowhere/at/all", "x"], /^✗ \[NOT_FOUND\] directory not found: \/nowhere\/at\/all\n/],
    [["--model", "nodriver/x", "x"], /^✗ \[NOT_FOUND\] .*model driver not found: nodriver/],
  ])("crux %j is refused", async (args, message) => {
    expect(await failure(...args)).toMatch(message);
  });

  it("--json gives the same errors as one object on stdout", async () => {
    for (const args of [
      ["kill", "x"],
      ["ps", "--bogus"],
      ["--agent", "nobody", "x"],
      ["astrace", "999999"],
    ]) {
      const { code, stdout, stderr } = await world.crux([...args, "--json"]);
      expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject({
        ok: false,
        error: { code: expect.stringMatching(/^[A-Z_]+$/) },
      });
      expect(stdout.trimEnd()).not.toContain("\n");
    }
  });
});

describe("on the wire", () => {
  it("a line that is no request is INVALID, and the connection goes on", async () => {
    await using wire = await Wire.open(world.socket);
    for (const line of ["{}", "{", '{"method":7}', '{"method":null}', '{"ping"}', '{"method":"ping"} x']) {
      wire.send(`${line}\n`);
      expect([line, await wire.next()]).toEqual([line, refused("INVALID", /^line is not a request: /)]);
    }
    // after the first line it is known to be this wire
    for (const line of ["[]", "null", '"ping"', "GET / HTTP/1.1"]) {
      wire.send(`${line}\n`);
      expect([line, await wire.next()]).toEqual([line, refused("INVALID", /^line is not a request: /)]);
    }
    wire.send('\r\n\n{"method":"ping","id":"é"}\r\n');
    expect(await wire.next()).toMatchObject({ id: "é", ok: true });
  });

  it.each([
    ["nonsense", undefined, /^unknown method: nonsense$/],
    ["toString", undefined, /^unknown method: toString$/],
    ["__proto__", undefined, /^unknown method: __proto__$/],
    ["kill", undefined, /^payload\.pid: /],
    ["kill", { pid: "1" }, /^payload\.pid: /],
    ["kill", { pid: -1 }, /^payload\.pid: /],
    ["kill", { pid: 1.5 }, /^payload\.pid: /],
    ["kill", { pid: 1, extra: true }, /^payload\.extra: unknown key$/],
    ["kill", [], /^payload: /],
    ["kill", null, /^payload: /],
    ["spawn", {}, /^payload\.intent: /],
    ["spawn", { intent: 7 }, /^payload\.intent: /],
    ["spawn", { intent: "x", max_steps: -1 }, /^payload\.max_steps: /],
    ["spawn", { intent: "x", env: { A: 1 } }, /^payload\.env\.A: /],
    ["spawn", { intent: "x", permission_mode: "root" }, /^payload\.permission_mode: /],
    ["spawn", { intent: "x", cwd: "relative" }, /cwd.*absolute/],
    ["spawn", { intent: " \n" }, /intent is empty/],
    ["ping", { now: true }, /^payload\.now: unknown key$/],
  ])("%s %j is INVALID, names the place, and the connection goes on", async (method, payload, message) => {
    await using wire = await Wire.open(world.socket);
    expect(await wire.ask(method, payload)).toEqual(refused("INVALID", message));
    expect(await wire.ask("ping")).toMatchObject({ ok: true });
  });

  it("an unknown pid and a signal that is none are told apart", async () => {
    await using wire = await Wire.open(world.socket);
    expect(await wire.ask("kill", { pid: 999_999 })).toEqual(
      refused("NOT_FOUND", "process not found: 999999"),
    );
    for (const signal of [0, 6, -1, 1.5])
      expect(await wire.ask("kill", { pid: 999_999, signal })).toEqual(refused("INVALID", /signal/));
    expect(await wire.ask("attach_debug", { pid: 999_999 })).toEqual(refused("NOT_FOUND", /999999/));
    expect(await wire.ask("spawn", { intent: "x", agent: "nobody" })).toEqual(refused("NOT_FOUND", /nobody/));
    expect(await wire.ask("list_procs")).toEqual({ ok: true, payload: { processes: [] } });
  });

  it.each(["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "hello\n", "\x16\x03\x01\x02\x00", " {}\n"])(
    "a first byte of another wire is INVALID and closed: %j",
    async (bytes) => {
      await using wire = await Wire.open(world.socket);
      wire.send(bytes);
      expect(await wire.rest()).toEqual([refused("INVALID", /./)]);
    },
  );

  it("a line that is cut off by the end of the connection is no request", async () => {
    await using wire = await Wire.open(world.socket);
    wire.send('{"method":"ping"}\n{"method":"shutdo');
    wire.socket.end();
    expect(await wire.rest()).toEqual([{ ok: true, payload: { version: expect.any(String) } }]);
    await using other = await Wire.open(world.socket);
    other.send('{"method":"shutdown"}');
    other.socket.end();
    await other.rest();
  });

  it("a thousand requests sent ahead are answered in their order", async () => {
    await using wire = await Wire.open(world.socket);
    wire.send(Array.from({ length: 1_000 }, (_, id) => `{"id":${id},"method":"ping"}\n`).join(""));
    for (let id = 0; id < 1_000; id++) expect(await wire.next()).toMatchObject({ id, ok: true });
  });

  it("a line of 100 MB is refused long before its end, and costs no memory", async () => {
    const before = residentMb();
    await using wire = await Wire.open(world.socket);
    wire.send('{"method":"ping","payload":{"x":"');
    const part = Buffer.alloc(1024 * 1024, "a");
    let sentMb = 0;
    const replies = wire.rest();
    const ended = replies.then(() => true);
    while (sentMb < 100 && !wire.socket.destroyed && !wire.socket.readableEnded) {
      sentMb++;
      const drained = new Promise<boolean>((resolve) => {
        wire.socket.write(part, () => resolve(true));
      });
      if (await Promise.race([ended.then(() => false), drained]).then((more) => !more)) break;
    }
    expect(await replies).toEqual([refused("INVALID", "line is over 10485760 bytes")]);
    expect(sentMb).toBeLessThan(40);
    // one line may be held up to its limit, and copied once
    const grown = await settled(
      () => residentMb() - before,
      (mb) => mb < 48,
    );
    expect(grown).toBeLessThan(48);
  });

  it("one line of just under 10 MiB is read, and many of them leave no trace", async () => {
    await using wire = await Wire.open(world.socket);
    const answer: Reply | undefined = await wire.ask("spawn", { intent: "x".repeat(10 * 1024 * 1024 - 100) });
    expect(answer).toEqual(refused("INVALID", /intent/));
    expect(await wire.ask("ping")).toMatchObject({ ok: true });
  });

  it("the 257th connection is UNAVAILABLE and closed, and room is made when others go", async () => {
    const open = await Promise.all(Array.from({ length: 256 }, () => Wire.open(world.socket)));
    try {
      for (const wire of open) expect(await wire.ask("ping")).toMatchObject({ ok: true });
      await using late = await Wire.open(world.socket);
      expect(await late.rest()).toEqual([refused("UNAVAILABLE", /connections/)]);
    } finally {
      await Promise.all(open.map((wire) => wire.close()));
    }
    const isFree = async () => {
      await using wire = await Wire.open(world.socket);
      return (await wire.ask("ping"))?.ok === true;
    };
    expect(await settled(isFree, (free) => free)).toBe(true);
  });
});

function residentMb(): number {
  const status = readFileSync(`/proc/${daemonPid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024;
}
