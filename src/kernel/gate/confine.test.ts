import { describe, expect, test } from "vitest";
import type { SandboxProfile, SandboxState } from "../../abi/sandbox.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Permit } from "../ports/permit.ts";
import { fakeExec } from "../testing/fake-exec.ts";
import { type GuardedBench, guardedBench } from "../testing/guarded.ts";
import { ALLOW, askWith, DENY, ScriptedPermit } from "../testing/scripted-permit.ts";

const PROFILE: SandboxProfile = { write: ["/desk"], protect: [], hide: [], show: [], network: "off" };
const NONE: SandboxState = {
  available: false,
  why: "bubblewrap is not installed",
  fix: "apt-get install bubblewrap",
};
const HERE: SandboxState = { available: true, kind: "bubblewrap" };

interface Setting {
  readonly state?: SandboxState;
  readonly mode?: Permit["sandboxMode"];
  readonly interactive?: boolean;
  readonly profile?: SandboxProfile | null;
}

async function bench({ state = NONE, mode = "on", interactive = true, profile = PROFILE }: Setting = {}) {
  const permit = Object.assign(new ScriptedPermit(), { sandbox: () => profile, sandboxMode: mode });
  const exec = { ...fakeExec(), sandbox: state };
  const ports: Partial<KernelPorts> = { permitFor: () => permit, exec };
  const made = await guardedBench({ interactive }, ports);
  const given: (SandboxProfile | null | undefined)[] = [];
  made.acts(async (_sys, hands) => void given.push(hands.sandbox));
  return { ...made, permit, given };
}

async function asked({
  events,
}: GuardedBench): Promise<{ askId: string; text: string; options: readonly string[] }> {
  for await (const event of events)
    if (event.event === "ask")
      return { askId: event.ask_id, options: event.options, text: JSON.stringify(event) };
  throw new Error("nothing was asked");
}

describe("a call whose processes are to be confined", () => {
  test("gets its profile where it can be had, asked or not", async () => {
    const b = await bench({ state: HERE });
    await b.call();
    b.permit.answer = () => askWith(null);
    const call = b.call();
    await b.t.kernel.answer((await asked(b)).askId, "yes");
    await call;
    expect(b.given).toEqual([PROFILE, PROFILE]);
  });

  test("that was allowed asks where there is no sandbox, and runs unconfined only after a yes", async () => {
    const b = await bench();
    const call = b.call();
    const { askId, text, options } = await asked(b);
    expect(text).toContain("bubblewrap is not installed");
    expect(text).toContain("whole account");
    expect(options).not.toContain("always");
    expect(b.given).toEqual([]);
    await b.t.kernel.answer(askId, "yes");
    await call;
    expect(b.given).toEqual([null]);
  });

  test("that a person refuses then, does not run", async () => {
    const b = await bench();
    const call = expect(b.call()).rejects.toMatchObject({ code: "PERMISSION" });
    await b.t.kernel.answer((await asked(b)).askId, "no");
    await call;
    expect(b.given).toEqual([]);
  });

  test("that would be asked anyway is asked once, with the warning", async () => {
    const b = await bench();
    b.permit.answer = () => askWith("edit(/desk/**)");
    const call = b.call();
    const { askId, text, options } = await asked(b);
    expect(text).toMatch(/may it\?; warning: the sandbox is not available/);
    expect(options).not.toContain("always");
    await b.t.kernel.answer(askId, "yes");
    await call;
    expect(b.given).toEqual([null]);
  });

  test.each([
    [{ interactive: false }, "no person is attached"],
    [{ mode: "required" }, "sandbox.mode is required"],
    [{ mode: "required", interactive: false }, "sandbox.mode is required"],
  ] as const)("is UNAVAILABLE with %j, and the way to have one is told", async (setting, why) => {
    const b = await bench(setting);
    const message = expect.stringMatching(new RegExp(`${why}.*apt-get install bubblewrap`));
    await expect(b.call()).rejects.toMatchObject({ code: "UNAVAILABLE", message });
    expect([b.given, b.t.journal.kinds().includes("call.intent")]).toEqual([[], false]);
  });

  test("that is denied is denied, with a sandbox or without", async () => {
    const b = await bench();
    b.permit.answer = () => DENY;
    await expect(b.call()).rejects.toMatchObject({ code: "PERMISSION" });
  });

  test("that settings exclude runs as the host is, without a word", async () => {
    const b = await bench({ profile: null, interactive: false });
    b.permit.answer = () => ALLOW;
    await b.call();
    expect(b.given).toEqual([null]);
  });
});
