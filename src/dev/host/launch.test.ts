import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder, until } from "../testing.ts";
import { Children, forkLaunch, hostLaunch, type LaunchCall, type Launcher, posixLaunch } from "./launch.ts";
import { findLibc } from "./libc.ts";
import { openDescriptors, openedSince } from "./testing.ts";

const libc = findLibc();
const ways: [string, Launcher][] = [["fork", forkLaunch]];
if (libc !== undefined) {
  const posix = posixLaunch(libc);
  ways.push(
    ["posix_spawn", posix],
    ["it on another thread", (wanted) => posix({ ...wanted, isAhead: true })],
  );
}

const call = (script: string, more: Partial<LaunchCall> = {}): LaunchCall => ({
  argv: ["/bin/sh", "-c", script],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  stdio: ["ignore", "ignore", "ignore"],
  ...more,
});

/** Runs the script with stdout in a file. */
async function output(launch: Launcher, script: string, more: Partial<LaunchCall> = {}): Promise<string> {
  const path = join(tempFolder(), "out");
  const fd = openSync(path, "w");
  const launched = launch(call(script, { stdio: ["ignore", fd, fd], ...more }));
  closeSync(fd);
  await launched.leader.ended;
  return readFileSync(path, "utf8");
}

describe.each(ways)("launch by %s", (_name, launch) => {
  it("tells the exit code, and the signal by name", async () => {
    expect(await launch(call("exit 7")).leader.ended).toEqual({ code: 7, signal: null });
    expect(await launch(call("kill -KILL $$")).leader.ended).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("gives the program its folder, environment and words, and nothing of ours", async () => {
    const argv = ["/bin/sh", "-c", 'pwd; env | sort; echo "$1"', "sh", "ü ' $HOME"] as const;
    const text = await output(launch, "", { argv, cwd: "/usr", env: { PATH: "/usr/bin:/bin", A: "b=c" } });
    expect(text.split("\n")).toEqual(["/usr", "A=b=c", "PATH=/usr/bin:/bin", "PWD=/usr", "ü ' $HOME", ""]);
  });

  it("a program leads a session of its own, and no signal is ignored or blocked in it", async () => {
    const lines = await output(launch, "cat /proc/self/status; cut -d' ' -f1,5,6 /proc/$$/stat");
    expect(lines).toMatch(/SigBlk:\t0+\n/);
    expect(lines).toMatch(/SigIgn:\t0+\n/);
    const [pid, group, session] = (lines.trim().split("\n").at(-1) ?? "").split(" ");
    expect([group, session]).toEqual([pid, pid]);
  });

  it("files of ours are not open in it", async () => {
    const path = join(tempFolder(), "ours");
    const kept = openSync(path, "w");
    try {
      const open = await output(launch, "for fd in /proc/$$/fd/*; do readlink $fd; done");
      expect(open).toContain("/dev/null");
      expect(open).not.toContain(path);
    } finally {
      closeSync(kept);
    }
  });

  it("a pipe goes both ways, also at fd 3", async () => {
    const launched = launch(
      call("read -r line <&3; echo got $line >&3", { stdio: ["ignore", "ignore", "ignore", "pipe"] }),
    );
    const pipe = launched.pipes[3];
    const answer = new Promise<string>((resolve) =>
      pipe?.once("data", (chunk: Buffer) => resolve(chunk.toString())),
    );
    pipe?.write("word\n");
    expect(await answer).toBe("got word\n");
    pipe?.destroy();
    expect(await launched.leader.ended).toEqual({ code: 0, signal: null });
  });

  it("a program that is not there is told, and leaves no fd", async () => {
    const before = openDescriptors();
    const wish = call("", { argv: ["/no/such/program"], stdio: ["pipe", "ignore", "ignore"] });
    const error = await (async () => (await launch(wish).leader.ended).error)().catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "ENOENT" });
    await until(() => openedSince(before).length === 0, "all are closed");
  });

  it("many at once are each told their own end", async () => {
    const codes = Array.from({ length: 40 }, (_, n) => n);
    const ends = await Promise.all(codes.map((code) => launch(call(`exit ${code}`)).leader.ended));
    expect(ends.map(({ code }) => code)).toEqual(codes);
  });
});

describe.runIf(libc !== undefined)("posixLaunch()", () => {
  it("refuses a text with a zero byte, which the program would see cut off", () => {
    expect(() => ways[1]?.[1](call("", { env: { A: "b\0c" } }))).toThrow("zero byte");
  });

  it("waits for one that is yet being started, where that is asked for", async () => {
    const { leader } = ways[2]?.[1](call("sleep 60")) ?? {};
    expect(leader?.pid).toBeUndefined();
    leader?.settle?.();
    expect(leader?.pid).toBeGreaterThan(0);
    process.kill(leader?.pid ?? 0, "SIGKILL");
    expect(await leader?.ended).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("is what this machine uses", () => {
    expect(hostLaunch()).not.toBe(forkLaunch);
  });
});

describe("Children", () => {
  it("listens only while there are children, also when one does not start", async () => {
    const listeners = () => process.listenerCount("SIGCHLD");
    const before = listeners();
    const statuses = new Map<number, number>();
    const pids = [101, 102];
    const spawn = () => {
      const pid = pids.shift();
      if (pid === undefined) throw new Error("no");
      return pid;
    };
    const waitNow = (pid: number) => statuses.get(pid);
    const children = new Children({
      spawn,
      spawnBeside: () => ({ pid: (async () => spawn())(), pidNow: () => 0 }),
      copyOf: (fd) => fd,
      waitNow,
    });
    const wanted = { path: "/p", argv: ["p"], env: [], cwd: "/", fds: [] };
    const [one, two] = [children.start(wanted), children.startBeside(wanted)];
    expect(two.pid).toBeUndefined();
    await two.started;
    expect(two.pid).toBe(102);
    expect(listeners()).toBe(before + 1);
    statuses.set(102, 512);
    process.emit("SIGCHLD", "SIGCHLD");
    expect(await two.ended).toEqual({ code: 2, signal: null });
    expect(listeners()).toBe(before + 1);
    statuses.set(101, 9);
    process.emit("SIGCHLD", "SIGCHLD");
    expect(await one.ended).toEqual({ code: null, signal: "SIGKILL" });
    expect(listeners()).toBe(before);
    expect(() => children.start(wanted)).toThrow("no");
    expect(listeners()).toBe(before);
    expect(await children.startBeside(wanted).ended).toMatchObject({ error: { message: "no" } });
    expect(listeners()).toBe(before);
  });
});
