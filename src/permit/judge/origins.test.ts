import { describe, expect, it } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { asPid } from "../../abi/ids.ts";
import type { Subject } from "../../kernel/ports/permit.ts";
import { makePermit, type PermitOptions } from "../policy.ts";

const OPTIONS: PermitOptions = {
  rules: [],
  defaultMode: "default",
  additionalDirectories: [],
  home: "/home/u",
  kernelPaths: ["/home/u/.local/state/crux"],
  realPath: (path) => (path === "/ws/link" ? "/elsewhere/x" : path),
  exists: () => false,
};
const SUBJECT: Subject = {
  pid: asPid(1),
  mode: "default",
  cwd: "/ws",
  roots: ["/ws"],
  free: ["/state/scratch/1"],
  allowedDevices: null,
  grants: [],
};

async function origins(effect: Effect, options: Partial<PermitOptions> = {}) {
  const permit = makePermit({ ...OPTIONS, ...options });
  await permit.ready?.([effect]);
  const found = permit.origins?.(SUBJECT, { tool: "x", effects: [effect] });
  return {
    labels: found?.labels.map(({ kind, source, detail }) => `${kind} ${source} ${detail}`) ?? [],
    reads: found?.reads.map(({ path }) => path) ?? [],
    writes: found?.writes ?? [],
  };
}

const read = (path: string): Effect => ({ kind: "read", path });
const run = (shell: string): Effect => ({
  kind: "exec",
  argv: ["bash", "-c", shell],
  cwd: "/ws",
  certain: false,
  shell,
});

describe("origins()", () => {
  it.each([
    ["/ws/a.ts", []],
    ["/ws/.env", ["secret file /ws/.env"]],
    ["/elsewhere/x", ["untrusted file /elsewhere/x"]],
    ["/ws/link", ["untrusted file /ws/link"]],
    ["/usr/include/stdio.h", []],
    ["/state/scratch/1/plan.md", []],
    ["/home/u/.config/crux/skills/a/SKILL.md", []],
    ["/home/u/.ssh/id_rsa", ["secret file /home/u/.ssh/id_rsa", "untrusted file /home/u/.ssh/id_rsa"]],
  ])("labels a read of %s", async (path, labels) => {
    expect((await origins(read(path))).labels).toEqual(labels);
  });

  it("labels no note of memory, wherever that lies", async () => {
    const moved = { memoryPaths: ["/srv/notes"] };
    expect((await origins(read("/srv/notes/a.md"), moved)).labels).toEqual([]);
    expect((await origins(read("/srv/other/a.md"), moved)).labels).toEqual([
      "untrusted file /srv/other/a.md",
    ]);
  });

  it("labels a page by its address, a server by its name", async () => {
    const at = { kind: "network", host: "a.io", port: 443, method: "GET" } as const;
    expect((await origins({ ...at, url: "https://a.io/x" })).labels).toEqual([
      "untrusted web https://a.io/x",
    ]);
    expect((await origins(at)).labels).toEqual(["untrusted web a.io:443"]);
    expect((await origins({ kind: "mcp", server: "s", tool: "t", host: "" })).labels).toEqual([
      "untrusted mcp s",
    ]);
  });

  it("names what commands read and write, as far as they say", async () => {
    expect(await origins(run("cat a.md .env > out.txt"))).toEqual({
      labels: ["secret file /ws/.env"],
      reads: ["/ws/a.md", "/ws/.env"],
      writes: ["/ws/out.txt"],
    });
    expect((await origins(run("cp a.md b.md"))).writes).toContain("/ws/b.md");
  });

  it("labels what comes over a network that commands have", async () => {
    const some = { sandbox: { network: { allow: ["a.io"] } } };
    const all = { sandbox: { mode: "off" as const } };
    expect((await origins(run("npm test"))).labels).toEqual([]);
    expect((await origins(run("npm test"), some)).labels).toEqual(["untrusted exec npm test"]);
    expect((await origins(run("ls"), some)).labels).toEqual([]);
    expect((await origins(run("npm test"), all)).labels).toEqual([]);
    expect((await origins(run("git -C x fetch origin"), all)).labels).toEqual([
      "untrusted exec git -C x fetch origin",
    ]);
  });
});
