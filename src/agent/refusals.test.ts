import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Remedy } from "../abi/fact.ts";
import type { Refusal } from "../abi/refusal.ts";
import type { CallResult } from "./program/tool-call.ts";
import {
  afterReply,
  givenUp,
  isGivenUp,
  MAX_REFUSED_REPLIES,
  NO_REFUSALS,
  type Refusals,
} from "./refusals.ts";

const refusal = (what: string, remedy: Remedy | null = null): Refusal => ({
  tool: "bash",
  what,
  reason: "no rule allows it",
  remedy,
});
const refused = (what = "rm -r b"): CallResult => ({ content: "no", isError: true, refused: refusal(what) });
const failed: CallResult = { content: "Error [NOT_FOUND]: no such file", isError: true };
const done: CallResult = { content: "ok", isError: false };
const counted = (...replies: readonly (readonly CallResult[])[]): Refusals =>
  replies.reduce<Refusals>(afterReply, NO_REFUSALS);

describe("afterReply", () => {
  it("counts a reply once, however many of its calls were refused", () => {
    const many = counted(Array.from({ length: 20 }, () => refused()));
    expect([many.replies, isGivenUp(many)]).toEqual([1, false]);
    expect(isGivenUp(counted([refused()], [refused(), refused()], [refused()]))).toBe(true);
  });

  it("begins anew with a call that was not refused, even one that failed", () => {
    expect(counted([refused()], [refused()], [refused(), failed])).toEqual(NO_REFUSALS);
    expect(counted([refused()], [refused()], [done], [refused()]).replies).toBe(1);
  });

  it("leaves the count as it is for a reply without calls", () => {
    expect(counted([refused()], [], [refused()]).replies).toBe(2);
  });

  it("gives up exactly after so many replies in a row of nothing but refused calls", () => {
    const reply = fc.array(fc.constantFrom(refused("a"), refused("b"), failed, done), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(reply, { maxLength: 12 }), (replies) => {
        const withCalls = replies.filter((results) => results.length > 0);
        const last = withCalls.slice(-MAX_REFUSED_REPLIES);
        const isOver =
          last.length === MAX_REFUSED_REPLIES &&
          last.every((results) => results.every((result) => result.refused !== undefined));
        expect(isGivenUp(counted(...replies))).toBe(isOver);
      }),
    );
  });
});

describe("givenUp", () => {
  it("names each call once, and the flag for the first that has one", () => {
    const calls = [refusal("mkdir a"), refusal("rm -r b", { rules: ["bash(rm -r b)"] }), refusal("mkdir a")];
    const results = calls.map((each) => ({ ...failed, refused: each }));
    expect(givenUp(counted(results, results, results))).toMatchObject({
      code: "PERMISSION",
      message:
        "every call of 3 replies in a row was refused, and nobody is attached to allow any: bash: mkdir a; bash: rm -r b",
      fact: { kind: "needs_approval", remedy: { rules: ["bash(rm -r b)"] } },
    });
    expect(givenUp(counted([refused()], [refused()], [refused()])).fact).toEqual({
      kind: "needs_approval",
      remedy: null,
    });
  });

  it("is bounded", () => {
    const results = Array.from({ length: 500 }, (_, n) => refused(`mkdir ${n}`));
    expect(counted(results, results, results).calls).toHaveLength(8);
  });
});
