import fc from "fast-check";
import { expect, it } from "vitest";
import { asPid, asProcUuid } from "../../../abi/ids.ts";
import { IPC_METHODS, type IpcMethodName } from "../../../abi/methods/ipc/methods.ts";
import type { ChildClient } from "../../../kernel/ports/kernel-api.ts";
import type { Principal } from "../principal.ts";
import { covers, Scopes } from "./scopes.ts";

const client: ChildClient = {
  pid: asPid(7),
  uuid: asProcUuid("u"),
  line: "l",
  isPersons: false,
  list: () => [],
  sees: (pid) => pid === 7,
  controls: (pid) => pid === 7,
  hears: async () => {},
  sys: null,
};
const natives = { list: () => [], of: () => undefined, past: async () => ({}) };

function scopesOf(principal: Principal, held?: readonly string[]): Scopes {
  const made = new Scopes(
    () => principal,
    () => natives,
  );
  const capability = { pid: asPid(7), uuid: "u", scopes: held ?? [], expiresAt: null };
  if (held !== undefined) made.hold({ text: "cap", capability, isLive: () => true });
  return made;
}

const METHODS = Object.keys(IPC_METHODS) as IpcMethodName[];
const SCOPES = ["self", "observe", "spawn", "control", "device:virtual/*"];

it.each(SCOPES)("with the scope %s alone a program may call what needs it, and nothing else", (scope) => {
  const scopes = scopesOf({ kind: "process", client }, [scope]);
  for (const method of METHODS) {
    const { right } = IPC_METHODS[method];
    const isHeld = right === scope || (right === "device" && scope.startsWith("device:"));
    expect([method, scopes.mayCall(method)]).toEqual([method, isHeld]);
    if (isHeld) scopes.check(method);
    else {
      const refusal = expect.objectContaining({ code: "PERMISSION", details: { scope: right } });
      expect(() => scopes.check(method)).toThrow(refusal);
    }
  }
});

it("without a token a program looks, a guest greets and reads metrics, and the user may do everything", () => {
  const looking = METHODS.filter((method) => ["self", "observe"].includes(IPC_METHODS[method].right));
  const may = (scopes: Scopes) => METHODS.filter((method) => scopes.mayCall(method));
  expect(may(scopesOf({ kind: "process", client }))).toEqual(looking);
  expect(may(scopesOf({ kind: "user", isProven: true, uid: 0 }))).toEqual(METHODS);
  const ofGuests = METHODS.filter(
    (method) => method.startsWith("kernel.") || method === "system.get_metrics",
  );
  expect(may(scopesOf({ kind: "guest" }))).toEqual(ofGuests);
});

it("remembers the last 1,000 processes that it saw, and none that is still there makes room for one that is gone", () => {
  const gone = new Set<number>();
  const seeing: ChildClient = { ...client, controls: (pid) => pid < 10_000 && !gone.has(pid) };
  const scopes = scopesOf({ kind: "process", client: seeing }, ["self", "observe"]);
  const see = (from: number, to: number): void => {
    for (let pid = from; pid < to; pid++) {
      expect(scopes.seesEvent(pid)).toBe(true);
      if (pid !== 10) gone.add(pid);
    }
  };
  see(10, 1_010);
  expect(scopes.seesEvent(11)).toBe(true);
  see(1_010, 3_000);
  gone.add(10);
  expect([10, 11, 2_000, 2_001, 2_999].map((pid) => scopes.seesEvent(pid))).toEqual([
    true,
    false,
    false,
    true,
    true,
  ]);
  expect(scopes.seesEvent(10_000)).toBe(false);
});

it("whatever is derived from whatever covers nothing that its first did not: 10,000 chains", () => {
  const word = fc.constantFrom("a", "b", "*", "a*", "*b", "a*b");
  const pattern = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => `device:${words.join("/")}`);
  const scope = fc.oneof(fc.constantFrom("self", "observe", "spawn", "control"), pattern);
  const lists = fc.array(fc.array(scope, { maxLength: 4 }), { minLength: 2, maxLength: 5 });
  const device = fc.array(fc.constantFrom("a", "b", "ab", "aab"), { minLength: 1, maxLength: 3 });
  const asked = fc.oneof(
    fc.constantFrom("self", "observe", "spawn", "control"),
    device.map((words) => `device:${words.join("/")}`),
  );
  fc.assert(
    fc.property(lists, fc.array(asked, { minLength: 1, maxLength: 5 }), ([first = [], ...wishes], all) => {
      let held = first;
      for (const wish of wishes) held = wish.filter((each) => covers(held, each));
      for (const each of all) if (covers(held, each)) expect(covers(first, each)).toBe(true);
    }),
    { numRuns: 10_000 },
  );
});
