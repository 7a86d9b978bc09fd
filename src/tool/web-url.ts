/** The host that a call connects to, known before it runs: rules match it. The device checks again, and more. */
import type { Effect } from "../abi/effects.ts";
import { failure } from "./failure.ts";

const MAX_CHARS = 2_000;

/** INVALID: not a web address. */
export function networkEffect(text: string, method = "GET"): Extract<Effect, { kind: "network" }> {
  const url = text.length <= MAX_CHARS && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw failure(
      "INVALID",
      `not a URL that can be fetched: ${text.slice(0, 200)}`,
      "Give a whole https:// URL",
    );
  if (url.username !== "" || url.password !== "")
    throw failure("INVALID", "a URL with a user or password in it is not fetched");
  const host = url.hostname
    .replace(/\.$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  // http is requested as https
  return { kind: "network", host, port: Number(url.port) || 443, method, url: text };
}
