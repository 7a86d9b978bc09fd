/** Failures as an editor reads them. */
import { RequestError } from "@agentclientprotocol/sdk";
import type { WireError } from "../../abi/errors.ts";
import { wireOf } from "../screen/errors.ts";

const AUTH_REQUIRED = -32000;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;

/** `terminal_reason`: why the run ended. */
export function requestError(error: unknown, terminal_reason?: string): RequestError {
  if (error instanceof RequestError) return error;
  const { code, message, hint } = wireOf(error);
  const words = hint === undefined ? message : `${message}\n${hint}`;
  const data = { code, ...(terminal_reason === undefined ? {} : { terminal_reason }) };
  return new RequestError(code === "INVALID" ? INVALID_PARAMS : INTERNAL, words, data);
}

/** A run that failed: the editor shows the words. */
export function runError(error: WireError | undefined, words: string, terminalReason: string): RequestError {
  const { code = "INTERNAL", message = words, hint } = error ?? {};
  const text = hint === undefined ? message : `${message}\n${hint}`;
  const number = code === "INVALID" ? INVALID_PARAMS : INTERNAL;
  return new RequestError(number, text, { code, terminal_reason: terminalReason });
}

export function noModel(): RequestError {
  const words =
    "Authentication required: no model is set up.\n`crux auth login` in a terminal stores the key of a provider";
  return new RequestError(AUTH_REQUIRED, words, { code: "UNAVAILABLE" });
}
