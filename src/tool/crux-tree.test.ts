import { expect, onTestFinished, test } from "vitest";
import { glob } from "./glob/glob.ts";
import { grep } from "./grep/grep.ts";
import { ls } from "./ls/ls.ts";
import { Bench } from "./testing/bench.ts";
import { view } from "./view/view.ts";
import { write } from "./write/write.ts";

const NOTES = "file:///notes/a b.txt";
const AT = `/mnt/mcp/notes/resources/${encodeURIComponent(NOTES)}`;
const echo = { name: "echo", description: "x".repeat(3_000), inputSchema: {} };

function bench(): Bench {
  const made = new Bench([view, ls, grep, glob, write]);
  onTestFinished(() => made[Symbol.dispose]());
  const files = {
    "/proc": [1, 4],
    "/proc/4": ["status", "intent"],
    "/proc/4/status": { pid: 4, state: "running" },
    "/proc/self/servers": [{ name: "notes", path: "/mnt/mcp/notes", state: "connected" }],
    "/mnt/mcp/notes": ["tools", "resources"],
    "/mnt/mcp/notes/tools": [echo],
    "/mnt/mcp/notes/resources": [
      { uri: NOTES, name: "notes" },
      { uri: "x:gone", name: "gone" },
    ],
  };
  for (const [path, value] of Object.entries(files)) made.crux.set(path, Buffer.from(JSON.stringify(value)));
  made.crux.set("/proc/4/intent", Buffer.from("read the running notes"));
  made.crux.set(AT, Buffer.from("milk\nbread\n"));
  return made;
}

test("ls shows the servers, what each offers, and its resources by the names they are read by", async () => {
  const made = bench();
  const names = (path: string) => made.text("ls", { path });
  expect(await names("/mnt/mcp")).toBe("notes");
  expect(await names("/mnt/mcp/notes/")).toBe("tools\nresources");
  expect(await names("/mnt/mcp/notes/tools")).toBe("echo");
  expect(await names("/mnt/mcp/notes/resources")).toBe(`${encodeURIComponent(NOTES)}\nx%3Agone`);
  expect(await names("/proc/4")).toBe("status\nintent");
  expect((await made.call("ls", { path: "/proc/4/status" })).error?.message).toBe(
    "not a directory: /proc/4/status",
  );
  expect((await made.call("ls", { path: "/mnt/mcp/other" })).error?.code).toBe("NOT_FOUND");
});

test("ls bounds a list of Crux", async () => {
  const made = bench();
  made.crux.set("/proc", Buffer.from(JSON.stringify(Array.from({ length: 1_004 }, (_, i) => i))));
  expect(await made.text("ls", { path: "/proc" })).toMatch(/^0\n1\n.*\n999\n\[… 4 more\]$/s);
});

test("view reads a resource, a server's tool, and its list of tools in lines", async () => {
  const made = bench();
  expect(await made.text("view", { file_path: AT })).toBe("milk\nbread\n");
  expect(await made.text("view", { file_path: "/mnt/mcp/notes/tools", limit: 3 })).toMatch(
    /^\[\n {2}\{\n {4}"name": "echo",\n\[lines 0-2 of /,
  );
  expect(await made.text("view", { file_path: "/mnt/mcp/notes/tools/echo" })).toMatch(
    /^\{\n {2}"name": "echo",/,
  );
  expect((await made.call("view", { file_path: "/mnt/mcp/notes/tools/ecko" })).error?.code).toBe("NOT_FOUND");
  expect((await made.call("view", { file_path: "/mnt/mcp" })).error?.message).toBe(
    "is a directory: /mnt/mcp. Use ls",
  );
  await expect(made.plan("write", { file_path: AT, content: "" })).rejects.toMatchObject({
    code: "PERMISSION",
  });
});

test("a path of Crux is declared as such, for the gate to judge; the host's /proc is named", async () => {
  const made = bench();
  const calls = [
    ["view", { file_path: AT }],
    ["ls", { path: AT }],
    ["grep", { path: AT, pattern: "x" }],
  ] as const;
  for (const [tool, args] of calls)
    expect((await made.plan(tool, args)).effects).toEqual([{ kind: "state", path: AT }]);
  expect((await made.call("view", { file_path: "/proc/cpuinfo" })).error).toMatchObject({
    code: "NOT_FOUND",
    hint: "/proc is Crux's own; the host's is read in bash: cat /proc/cpuinfo",
  });
  expect((await made.call("glob", { pattern: "*", path: "/mnt/mcp/notes" })).error?.code).toBe("INVALID");
});

test("grep searches the files of a directory of Crux, and says what it could not read", async () => {
  const made = bench();
  const find = (path: string, more = {}) =>
    made.text("grep", { pattern: "running|bread|echo", context: 0, path, ...more });
  expect(await find("/proc")).toBe(
    '/proc/4/status:1:{"pid":4,"state":"running"}\n/proc/4/intent:1:read the running notes',
  );
  expect(await find("/proc/4", { mode: "files" })).toBe("/proc/4/status\n/proc/4/intent");
  expect(await find("/mnt/mcp/notes", { mode: "count" })).toBe(
    `/mnt/mcp/notes/tools:1\n${AT}:1\n[1 files could not be read]`,
  );
  expect((await made.call("grep", { pattern: "x", path: "/mnt/mcp" })).error?.hint).toBe(
    "ls /mnt/mcp has their names",
  );
});

test("grep reads no more files than a call may", async () => {
  const made = bench();
  const all = Array.from({ length: 300 }, (_, i) => ({ name: `c_${i}` }));
  made.crux.set("/var/out", Buffer.from(JSON.stringify(all)));
  for (const { name } of all) made.crux.set(`/var/out/${name}`, Buffer.from("hit\n"));
  made.asked = [];
  const text = await made.text("grep", { pattern: "hit", path: "/var/out", context: 0 });
  expect(text).toMatch(/\/var\/out\/c_99:1:hit\n\[100 of 300 files were searched; name one\]$/);
  expect(made.asked).toHaveLength(101);
});
