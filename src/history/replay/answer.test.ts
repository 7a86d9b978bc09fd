import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ContextError, DriverError, Fault, SyscallError, VfsError } from "../../abi/errors.ts";
import { asCtxId, asPid } from "../../abi/ids.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { packAnswer, packError, unpackAnswer, unpackError } from "./answer.ts";

const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("packAnswer()", () => {
  test("any bytes come back as they were, also within other data", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.jsonValue(), (bytes, plain) => {
        const value = { data: bytes, list: [bytes], plain };
        fc.pre(JSON.stringify(plain)?.includes("$") !== true);
        expect(unpackAnswer(stored(packAnswer(value)))).toEqual(stored2(value));
      }),
    );
  });

  test("text stays readable, what is none is base64", () => {
    expect(packAnswer(Buffer.from("grüße"))).toEqual({ $bytes: { text: "grüße" } });
    expect(packAnswer(new Uint8Array([0xc3]))).toEqual({ $bytes: { base64: "ww==" } });
  });
});

/** JSON has no -0. */
function stored2(value: { data: Uint8Array; list: Uint8Array[]; plain: unknown }) {
  return { ...value, plain: stored(value.plain) };
}

describe("packError()", () => {
  const at = { code: "DRIVER", message: "it broke", device: "/dev/x", hint: "mend it" } as const;
  test.each([
    new SyscallError({ ...at, syscall: "Open", pid: asPid(3) }),
    new VfsError({ ...at, op: "Read", pid: asPid(3) }),
    new ContextError({ ...at, op: "CtxRead", cid: asCtxId(2) }),
    new DriverError({ ...at, op: "Write", cause: new Error("below") }),
    new LlmError({ kind: "rate_limit", message: "slow", status: 429, retryAfterMs: 5, device: "/dev/llm/x" }),
    new Fault(at),
  ])("%s comes back as it was, with its causes", (error) => {
    const back = unpackError(stored(packError(error)));
    expect(back).toBeInstanceOf(error.constructor);
    expect(packError(back)).toEqual(packError(error));
  });

  test("an abort and an error of the platform keep what tells them from others", () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    expect(unpackError(packError(refused))).toMatchObject({ message: "connect", code: "ECONNREFUSED" });
    expect(unpackError(packError(new DOMException("aborted", "AbortError"))).name).toBe("AbortError");
  });
});
