/** A program of the agent puts a link in the place of a folder, at the worst moment and at any: nothing happens where it leads. */
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { type Caller, O_RDONLY, O_RDWR, O_WRONLY } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { covers } from "../../kernel/gate/covers.ts";
import { realPath } from "../host/real-path.ts";
import { actOf, callerIn, tempFolder } from "../testing.ts";
import { fsForTests } from "./testing.ts";

const { device } = fsForTests();

/** A workspace with a folder `sub`, and a place outside with a key. */
function places() {
  const root = realPath(tempFolder());
  const [work, outside] = [join(root, "work"), join(root, "outside")];
  mkdirSync(join(work, "sub"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, "key"), "secret");
  writeFileSync(join(work, "sub/key"), "public");
  symlinkSync(outside, join(work, "link"));
  return { root, work, outside };
}

/** What the gate makes of a plan: nobody may do anything but in `work`. undefined: it refuses. */
function permitted(effects: readonly Effect[], work: string): readonly Effect[] | undefined {
  const found = effects.map((effect) => {
    if (effect.kind !== "read" && effect.kind !== "write") throw new Error(effect.kind);
    return { ...effect, real: realPath(effect.path) };
  });
  return found.every(
    ({ real }) => real.startsWith(`${work}/sub/`) || real === `${work}/sub` || real === `${work}/x`,
  )
    ? found
    : undefined;
}

async function ask(caller: Caller, path: string, request: object): Promise<string> {
  const file = await device.open(path, O_RDWR, caller);
  try {
    const bytes = Buffer.from(JSON.stringify(request));
    const effects = permitted((await file.plan?.(bytes))?.effects ?? [], caller.cwd);
    if (effects === undefined) return "REFUSED";
    await file.write(bytes, { ...actOf(), covers: (effect) => covers(effects, effect) });
    return Buffer.from(await file.read(100_000, caller.signal)).toString();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    await file.close();
  }
}

/** The link is where the folder was, and what was begun there lies where it leads. */
function swap(work: string): void {
  for (const name of readdirSync(join(work, "sub")).filter((each) => each.includes(".crux-")))
    copyFileSync(join(work, "sub", name), join(work, "link", name));
  renameSync(join(work, "sub"), join(work, "was"));
  renameSync(join(work, "link"), join(work, "sub"));
}

describe("a folder that becomes a link while a change of its entry is announced", () => {
  const begin = () => {
    const made = places();
    let isOver = false;
    const changing: Caller["changing"] = async () => {
      if (!isOver) swap(made.work);
      isOver = true;
      return { mode: null };
    };
    return { ...made, caller: { ...callerIn(made.work), changing } };
  };

  it.each([
    ["write", "new", { content: "evil" }],
    ["write", "key", { content: "evil" }],
    ["write", "a/b/new", { content: "evil", mkdirs: true }],
    ["mkdir", "new", {}],
    ["remove", "key", {}],
  ])("%s %s", async (op, name, more) => {
    const { work, outside, caller } = begin();
    await ask(caller, join(work, "sub", name), { op, ...more });
    expect(readdirSync(outside).filter((each) => !each.includes(".crux-"))).toEqual(["key"]);
    expect(readFileSync(join(outside, "key"), "utf8")).toBe("secret");
  });

  it("rename, into it and out of it", async () => {
    const into = begin();
    writeFileSync(join(into.work, "x"), "evil");
    await ask(into.caller, join(into.work, "x"), { op: "rename", to: join(into.work, "sub/new") });
    expect(readdirSync(into.outside)).toEqual(["key"]);
    const out = begin();
    await ask(out.caller, join(out.work, "sub/key"), { op: "rename", to: join(out.work, "x") });
    expect(readdirSync(out.outside)).toEqual(["key"]);
  });

  it("bytes that are put in place at close", async () => {
    const { work, outside, caller } = begin();
    const file = await device.open(join(work, "sub/new"), O_WRONLY, caller);
    await file.write(Buffer.from("evil"), actOf());
    await expect(file.close()).rejects.toMatchObject({ code: "CONFLICT" });
    expect(readdirSync(outside).filter((each) => !each.includes(".crux-"))).toEqual(["key"]);
  });
});

it("what a path leads to by now is not what was permitted: CONFLICT, whoever looked when", async () => {
  const { work, outside } = places();
  const caller: Caller = {
    ...callerIn(work),
    covers: (effect) => !("real" in effect && effect.real?.startsWith(outside)),
  };
  const refused = { code: "CONFLICT" };
  for (const flags of [O_RDONLY, O_WRONLY] as const)
    await expect(device.open(join(work, "link/key"), flags, caller)).rejects.toMatchObject(refused);
  await expect(device.stat?.(join(work, "link/key"), caller)).rejects.toMatchObject(refused);
  for (const request of [
    ...[
      { op: "read" },
      { op: "pdf" },
      { op: "stat" },
      { op: "list" },
      { op: "files" },
      { op: "grep", pattern: "s", output: "content" },
    ],
    ...[
      { op: "write", content: "" },
      { op: "mkdir" },
      { op: "remove" },
      { op: "rename", to: join(work, "x") },
    ],
  ]) {
    const file = await device.open(join(work, "link/key"), O_RDWR, caller);
    const act = { ...actOf(), ...(caller.covers === undefined ? {} : { covers: caller.covers }) };
    await expect(file.write(Buffer.from(JSON.stringify(request)), act)).rejects.toMatchObject(refused);
    await file.close();
  }
  writeFileSync(join(work, "x"), "");
  const into = await device.open(join(work, "x"), O_RDWR, caller);
  const request = Buffer.from(JSON.stringify({ op: "rename", to: join(work, "link/new") }));
  await expect(into.write(request, { ...actOf(), covers: caller.covers! })).rejects.toMatchObject(refused);
  await into.close();
  expect(readdirSync(outside)).toEqual(["key"]);
});

/** As fast as a thread can. */
const FLIP = `
const { renameSync } = require("node:fs");
const { workerData: [sub, link, aside] } = require("node:worker_threads");
for (;;) for (const [from, to] of [[sub, aside], [link, sub], [sub, link], [aside, sub]]) renameSync(from, to);
`;
const TRIES = 400;

it(`${TRIES} changes, reads and lists beside a program that turns a folder into a link and back`, async () => {
  const { work, outside } = places();
  const at = ["sub", "link", "aside"].map((name) => join(work, name));
  const flipping = new Worker(FLIP, { eval: true, workerData: at });
  const failed = new Promise<never>((_, reject) => flipping.once("error", reject));
  failed.catch(() => {});
  // as the journal of a real change does, this waits a moment
  const changing: Caller["changing"] = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return { mode: null };
  };
  const caller = { ...callerIn(work), changing };
  const answers: string[] = [];
  try {
    for (let n = 0; n < TRIES; n++) {
      const sub = join(work, "sub");
      const asked = [
        ask(caller, join(sub, `file-${n}`), { op: "write", content: "evil" }),
        ask(caller, join(sub, `folder-${n}`), { op: "mkdir" }),
        ask(caller, join(sub, "key"), { op: "read" }),
        ask(caller, sub, { op: "list" }),
      ];
      answers.push(...(await Promise.race([Promise.all(asked), failed])));
    }
  } finally {
    await flipping.terminate();
  }
  expect(answers.filter((answer) => answer.includes("secret"))).toEqual([]);
  expect(answers.filter((answer) => answer.includes('"ok":true')).length).toBeGreaterThan(0);
  expect(readdirSync(outside)).toEqual(["key"]);
});
