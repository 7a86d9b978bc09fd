import { describe, expect, it } from "vitest";
import { asPid } from "../../abi/ids.ts";
import type { Params } from "../../abi/methods/methods.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { Requested } from "../../kernel/ports/requests.ts";
import type { Principal } from "./principal.ts";
import { Repeats } from "./repeats.ts";
import { FakeKernel } from "./testing/fake-kernel.ts";

const USER: Principal = { kind: "user", isProven: true, uid: 1000 };
const process = (pid: number) => ({ kind: "process", client: { pid: asPid(pid) } }) as Principal;

/** A server whose requests make processes 1, 2, … */
function bench() {
  const kernel = new FakeKernel();
  const repeats = new Repeats();
  const marks: (RequestMark | undefined)[] = [];
  const gone = new AbortController();
  /** What the next act waits for. */
  const act: { before: Promise<unknown> } = { before: Promise.resolve() };
  const ask = (params: Params<"spawn">, principal = USER, signal = gone.signal): Promise<string> =>
    repeats.once(
      "spawn",
      params,
      { kernel, principal, gone: signal },
      async ({ request }) => {
        marks.push(request);
        const pid = asPid(marks.length);
        await act.before;
        if (request !== undefined) kernel.made.set(request.id, { digest: request.digest, pid, at: 0 });
        return `made ${pid}`;
      },
      async ({ pid }: Requested) => `again ${pid}`,
    );
  return { kernel, repeats, marks, act, ask };
}

const KEYED = { intent: "count", idempotency_key: "k" };

describe("Repeats.once()", () => {
  it("acts each time without a key, and leaves no mark", async () => {
    const { ask, marks } = bench();
    expect([await ask({ intent: "a" }), await ask({ intent: "a" })]).toEqual(["made 1", "made 2"]);
    expect(marks).toEqual([undefined, undefined]);
  });

  it("answers a key that is known with what was made; a server that begins anew does, too", async () => {
    const { ask, kernel } = bench();
    expect([await ask(KEYED), await ask(KEYED)]).toEqual(["made 1", "again 1"]);
    const later = bench();
    for (const [id, made] of kernel.made) later.kernel.made.set(id, made);
    expect(await later.ask(KEYED)).toBe("again 1");
    expect(later.marks).toEqual([]);
  });

  it("acts once for a hundred that come at the same time", async () => {
    const { ask, act, marks } = bench();
    const { promise, resolve } = Promise.withResolvers<void>();
    act.before = promise;
    const all = Array.from({ length: 100 }, () => ask(KEYED));
    resolve();
    expect(await Promise.all(all)).toEqual(["made 1", ...Array(99).fill("again 1")]);
    expect(marks).toHaveLength(1);
  });

  it("is CONFLICT with other content, whether the first is over or under way", async () => {
    const { ask, act } = bench();
    const { promise, resolve } = Promise.withResolvers<void>();
    act.before = promise;
    const first = ask(KEYED);
    const second = ask({ ...KEYED, intent: "another" });
    second.catch(() => {});
    resolve();
    await first;
    const refused = { code: "CONFLICT", message: expect.stringContaining("idempotency key reused") };
    await expect(second).rejects.toMatchObject(refused);
    await expect(ask({ ...KEYED, cwd: "/w" })).rejects.toMatchObject(refused);
    await expect(ask({ ...KEYED, cwd: "/w" })).rejects.toThrow("process 1");
  });

  it("keeps the keys of callers and of methods apart", async () => {
    const { ask, marks, repeats, kernel } = bench();
    const asked = [await ask(KEYED), await ask(KEYED, process(3)), await ask(KEYED, process(4))];
    expect([...asked, await ask(KEYED, process(3))]).toEqual(["made 1", "made 2", "made 3", "again 2"]);
    expect(new Set(marks.map((mark) => mark?.id)).size).toBe(3);
    // neither key nor content can be had from the mark
    expect(JSON.stringify(marks)).not.toMatch(/count|"k"/);
    expect(marks[0]?.id).toMatch(/^[0-9a-f]{40}$/);
    expect([repeats, kernel]).toBeDefined();
  });

  it("acts again after one that failed: nothing was made", async () => {
    const { ask, act, marks } = bench();
    act.before = Promise.reject(new Error("no"));
    await expect(ask(KEYED)).rejects.toThrow("no");
    act.before = Promise.resolve();
    expect(await ask(KEYED)).toBe("made 2");
    expect(marks).toHaveLength(2);
  });

  it("lets go of one whose client leaves while it waits", async () => {
    const { ask, act } = bench();
    const { promise, resolve } = Promise.withResolvers<void>();
    act.before = promise;
    const first = ask(KEYED);
    const leaving = new AbortController();
    const second = ask(KEYED, USER, leaving.signal);
    leaving.abort(new Error("left"));
    await expect(second).rejects.toThrow("left");
    resolve();
    expect(await first).toBe("made 1");
  });
});
