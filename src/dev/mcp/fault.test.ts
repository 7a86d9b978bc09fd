import * as sdk from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { driverError } from "../driver-error.ts";
import { faultOf, SessionGone } from "./fault.ts";

const call = { what: "write", op: "Write", isCall: true } as const;
const list = { what: "tools/list", op: "Read", isCall: false } as const;
const http = (status: number) =>
  new sdk.SdkHttpError(sdk.SdkErrorCode.ClientHttpNotImplemented, "told\u202e so", { status });
const network = (code: string) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
const closed = new sdk.SdkError(sdk.SdkErrorCode.ConnectionClosed, "Connection closed");

describe("faultOf()", () => {
  test.each([
    [new sdk.ProtocolError(-32_602, "no\nsuch tool"), "DRIVER", "write: no such tool (error -32602)"],
    [new sdk.ProtocolError(-32_002, "none"), "NOT_FOUND", "write: none (error -32002)"],
    [closed, "DRIVER", "write: the server ended during the call: its outcome is unknown"],
    [network("ECONNREFUSED"), "UNAVAILABLE", "write: no answer (ECONNREFUSED); nothing was sent"],
    [network("ENOTFOUND"), "UNAVAILABLE", "write: no answer (ENOTFOUND); nothing was sent"],
    [network("ECONNRESET"), "DRIVER", "write: the connection broke (ECONNRESET): its outcome is unknown"],
    [http(502), "DRIVER", "write: HTTP 502: its outcome is unknown"],
    [http(400), "DRIVER", "write: HTTP 400: told so"],
    [http(401), "PERMISSION", "write: the server wants to know who asks (HTTP 401)"],
    [new sdk.UnauthorizedError(), "PERMISSION", "write: the server wants to know who asks (HTTP 401)"],
    [new Error("odd"), "DRIVER", "write: odd"],
  ])("of a call: %s", (error, code, message) => {
    expect(faultOf(sdk, error, call)).toMatchObject({ code, message, op: "Write" });
  });

  test.each([
    [closed, "UNAVAILABLE", "tools/list: the server ended during the call"],
    [network("EPIPE"), "UNAVAILABLE", "tools/list: the connection broke (EPIPE)"],
    [http(500), "UNAVAILABLE", "tools/list: HTTP 500"],
  ])("of what changes nothing: %s", (error, code, message) => {
    expect(faultOf(sdk, error, list)).toMatchObject({ code, message });
  });

  test("tells a session that is gone apart: nothing was done in it", () => {
    expect(faultOf(sdk, http(404), call)).toBeInstanceOf(SessionGone);
  });

  test("keeps what is documented already", () => {
    const error = driverError("Write", "TIMEOUT", "late");
    expect(faultOf(sdk, error, call)).toBe(error);
  });
});
