import fc from "fast-check";
import { expect, test } from "vitest";
import { PROTOCOL } from "../../abi/wire.ts";
import { type Admission, Admissions, type Claimant, claimantOf } from "./admission.ts";

const { maxConnections, connectionsOfUser, maxConnectionsOfLine, maxConnectionsOfProcess } = PROTOCOL;
const user: Claimant = { kind: "user" };
const program = (uuid: string | null, line = "root"): Claimant => ({ kind: "program", uuid, line });

function fill(admissions: Admissions, claimant: Claimant): number {
  let count = 0;
  while (admissions.admit(claimant).kind === "admitted") count++;
  return count;
}

test("admit() gives each process its quota, each line of descent its own, and all programs together theirs", () => {
  const admissions = new Admissions();
  expect(fill(admissions, program("a"))).toBe(maxConnectionsOfProcess);
  expect(admissions.admit(program("a"))).toMatchObject({
    kind: "refused",
    message: `too many connections of the programs of this process (${maxConnectionsOfProcess})`,
  });
  let ofLine = maxConnectionsOfProcess;
  for (let n = 0; n < 20; n++) ofLine += fill(admissions, program(`a${n}`));
  expect(ofLine).toBe(maxConnectionsOfLine);
  let all = ofLine;
  for (let n = 0; n < 100; n++) all += fill(admissions, program(`b${n}`, `line${n}`));
  expect(all).toBe(maxConnections - connectionsOfUser);
  expect(admissions.admit(program("c", "other"))).toMatchObject({ kind: "refused" });
});

test("admit() keeps places for the user whatever programs hold, and refuses at the bound of all", () => {
  const admissions = new Admissions();
  for (let n = 0; n < 100; n++) fill(admissions, program(n === 0 ? null : `p${n}`, `line${n}`));
  expect(fill(admissions, user)).toBe(connectionsOfUser);
  expect(admissions.admit(user)).toEqual({
    kind: "refused",
    message: `too many connections (${maxConnections})`,
  });
});

test("the user alone may have all places", () => {
  expect(fill(new Admissions(), user)).toBe(maxConnections);
});

test("whatever comes and goes, a user that holds fewer than the reserve is admitted, and nothing is left in the end", () => {
  const claimant = fc.oneof(
    fc.constant(user),
    fc
      .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 5 }))
      .map(([uuid, line]) => program(`p${uuid}`, `l${line}`)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(claimant, fc.boolean()), { maxLength: 600 }), (steps) => {
      const admissions = new Admissions();
      const held: { admission: Extract<Admission, { kind: "admitted" }>; claimant: Claimant }[] = [];
      for (const [who, leaves] of steps) {
        if (leaves) held.shift()?.admission.leave();
        const users = held.filter(({ claimant }) => claimant.kind === "user").length;
        const admission = admissions.admit(who);
        if (admission.kind === "admitted") held.push({ admission, claimant: who });
        if (who.kind === "user" && users < connectionsOfUser) expect(admission.kind).toBe("admitted");
        expect(admissions.size).toBe(held.length);
        expect(held.filter(({ claimant }) => claimant.kind === "program").length).toBeLessThanOrEqual(
          maxConnections - connectionsOfUser,
        );
      }
      for (const { admission } of held) {
        admission.leave();
        admission.leave();
      }
      expect(admissions.size).toBe(0);
    }),
  );
});

const isGone = (peer: Parameters<typeof claimantOf>[0]) => peer.kind === "child" && peer.uuid === "gone";

test("claimantOf() tells the user from programs by the other end and the socket", () => {
  const of = (peer: Parameters<typeof claimantOf>[0], socketOf: string | null = null) =>
    claimantOf(peer, socketOf, isGone(peer) ? undefined : "root");
  expect(of({ kind: "own", uid: 1 })).toEqual(user);
  expect(of({ kind: "unknown" })).toEqual(user);
  expect(of({ kind: "child", uuid: "a" })).toEqual(program("a"));
  expect(of({ kind: "own", uid: 1 }, "a")).toEqual(program("a"));
  expect(of({ kind: "unknown" }, "a")).toEqual(program("a"));
  for (const peer of [
    { kind: "gone" },
    { kind: "other_user", uid: 2 },
    { kind: "child", uuid: null },
    { kind: "child", uuid: "gone" },
  ] as const)
    expect(of(peer)).toEqual(program(null, ""));
});
