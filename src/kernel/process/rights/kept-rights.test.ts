import { describe, expect, test } from "vitest";
import { ALL_RIGHTS, NO_RIGHTS, type Rights } from "../../../abi/rights.ts";
import { isSubset } from "../../testing/is-subset.ts";
import { type KeptRights, rightsOf } from "./kept-rights.ts";

const DENY = { source: "cliArg", behavior: "deny", text: "bash(rm:*)" } as const;
const FULL: Rights = { ...ALL_RIGHTS, mode: "auto", tools: ["bash"], deny: [DENY], allow: [] };
const read = (rights: unknown): Rights => rightsOf({ mode: "auto", rights } as Partial<KeptRights>);

describe("rightsOf()", () => {
  test("gives what was written, after the journal", () => {
    expect(read(JSON.parse(JSON.stringify(FULL)))).toEqual(FULL);
  });

  test.each(Object.keys(FULL))("without %s it is the empty one there, and no wider anywhere", (key) => {
    const { [key as keyof Rights]: _, ...rest } = FULL;
    const left = read(rest);
    // what is lost of the denies is made up for by leaving nothing
    expect(key === "deny" || key === "ask" ? left : isSubset(left, FULL)).toEqual(
      key === "deny" || key === "ask" ? NO_RIGHTS : true,
    );
    expect(left[key as keyof Rights]).toEqual(NO_RIGHTS[key as keyof Rights]);
  });

  test.each([
    ["null", null],
    ["a number", 7],
    ["a list of what is no rule", [{ behavior: "deny", text: 1 }]],
    ["a rule of an unknown source", [{ ...DENY, source: "elsewhere" }]],
  ])("denies that are %s leave nothing", (_name, deny) => {
    expect(read({ ...FULL, deny })).toEqual(NO_RIGHTS);
  });

  test("a mode that is not known is the lowest", () => {
    expect(read({ ...FULL, mode: "root" }).mode).toBe("plan");
  });

  test("a record without any is of an earlier version where it says its devices, else nothing", () => {
    expect(rightsOf({ mode: "accept_edits", allowedDevices: null })).toEqual({
      ...ALL_RIGHTS,
      mode: "accept_edits",
      allow: [],
    });
    expect(rightsOf({ mode: "default", allowedDevices: ["/dev/fs"] })).toMatchObject({
      devices: ["/dev/fs"],
    });
    expect(rightsOf({ mode: "bypass" })).toEqual(NO_RIGHTS);
  });
});
