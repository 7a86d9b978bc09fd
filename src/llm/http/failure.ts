/** Maps failures of a provider's HTTP interface to kinds. No key, header or body of a request ever enters a message. */
import type { LlmErrorKind } from "../../abi/llm.ts";
import { LlmError, REFUSAL_HINT } from "../../abi/llm-error.ts";
import { foreignJson } from "../json.ts";
import { HttpSilence, pageWords } from "./client.ts";
import { kindOf } from "./kinds.ts";

/** The server, described in words that help the user to fix its configuration. */
export interface Endpoint {
  /** `/dev/llm/<driver>` */
  readonly device: string;
  /** `Anthropic`, `OpenAI`, `Ollama` */
  readonly vendor: string;
  readonly baseUrl: string;
  /** The variable that holds the credential. */
  readonly keyName: string;
  /** The credential itself, also removed from error texts. */
  readonly secret: string;
  /** How to log in, where what proves who asks is no key in a variable. */
  readonly loginHint?: string;
  /** The hint when no server answers. */
  readonly unreachableHint: string;
}

/** The contents of an error response or an error event. */
export interface ErrorAnswer {
  /** undefined for an error within a stream. */
  readonly status: number | undefined;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly headers?: Headers | undefined;
  /** The kind, where the vendor's words say more than the status; absent: it follows from the rest. */
  readonly kind?: LlmErrorKind | undefined;
  /** The delay that the body names, if no header does. */
  readonly retryAfterMs?: number | undefined;
  /** Models whose names are near the one that was asked for. */
  readonly near?: readonly string[] | undefined;
}

export function answerError(endpoint: Endpoint, answer: ErrorAnswer): LlmError {
  const kind = answer.kind ?? kindOf(answer);
  const { status, headers } = answer;
  const bare = answer.message.startsWith(`${status} `) ? answer.message.slice(4) : answer.message;
  const said = clean(bare || answer.type || "no explanation", endpoint.secret);
  const what = status === undefined ? said : `${status}: ${said}`;
  const told = (headers && retryAfter(headers)) ?? answer.retryAfterMs;
  const retryAfterMs = told ?? (kind === "rate_limit" ? waitInWords(answer.message) : undefined);
  const shouldRetry = headers?.get("x-should-retry");
  return new LlmError({
    kind,
    device: endpoint.device,
    status,
    retryAfterMs,
    shouldRetry: shouldRetry === "true" ? true : shouldRetry === "false" ? false : undefined,
    message: sentence(kind, endpoint, what, retryAfterMs),
    hint: hintFor(kind, endpoint, answer),
  });
}

/** The error of a request without an answer, or of a body that broke off; the cause chain has the socket's error. */
export function connectionError(endpoint: Endpoint, error: unknown): LlmError {
  const code = socketCode(error);
  const where = shownUrl(endpoint.baseUrl);
  const hint = code === "ERR_PROXY_INVALID_CONFIG" ? PROXY_HINT : UNTRUSTED.has(code ?? "") ? TRUST_HINT : "";
  return new LlmError({
    kind: error instanceof HttpSilence ? "timeout" : "connection",
    device: endpoint.device,
    // another attempt would come to the same
    shouldRetry: hint === "" ? undefined : false,
    message:
      code === "ECONNREFUSED"
        ? `nothing answers at ${where} (connection refused)`
        : `the connection to ${where} failed (${clean(code ?? deepestMessage(error), endpoint.secret)})`,
    hint: hint || endpoint.unreachableHint,
    cause: error,
  });
}

/** The certificate of the server is not trusted. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_GET_ISSUER_CERT",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);
const PROXY_HINT = "Set HTTPS_PROXY and HTTP_PROXY to http:// or https:// URLs, then restart the daemon.";
const TRUST_HINT =
  "If you trust that server, set NODE_EXTRA_CA_CERTS to the file with its certificate, then restart the daemon.";

/** `message` may quote the server. */
export function malformedStream(endpoint: Endpoint, message: string): LlmError {
  const words = clean(message, endpoint.secret);
  return new LlmError({ kind: "stream_malformed", device: endpoint.device, message: words });
}

/** A web page in place of a reply: something else is at that place, and will be the next time. */
export function notAModel(endpoint: Endpoint, baseUrlName: string, page: string): LlmError {
  const { device, vendor, baseUrl, secret } = endpoint;
  return new LlmError({
    kind: "stream_malformed",
    device,
    shouldRetry: false,
    message: `${vendor} at ${shownUrl(baseUrl)} answered with ${clean(pageWords(page), secret)}`,
    hint: `Check ${baseUrlName}: it must name the server's interface for models.`,
  });
}

export function parseJson(text: string, endpoint: Endpoint): unknown {
  try {
    return foreignJson(text.replace(/^\uFEFF/, ""));
  } catch {
    throw malformedStream(endpoint, "an event of the reply is not JSON");
  }
}

export function cancelled(device: string, cause?: unknown): LlmError {
  return new LlmError({ kind: "cancelled", device, message: "the model call was cancelled", cause });
}

/** The error if the driver is not configured: waiting does not help, so it is not retried. */
export function notConfigured(device: string, message: string, hint: string): LlmError {
  return new LlmError({ kind: "connection", device, message, hint, shouldRetry: false });
}

/**
 * Checks that the key can go into a header. One that cannot (a copied line break, a character outside ASCII) is
 * reported before it is tried.
 */
export function checkKey({ device, keyName, secret }: Endpoint): void {
  if (/^[\x21-\x7e]*$/.test(secret)) return;
  const message = `the key in ${keyName} holds a blank, a line break or a letter outside ASCII`;
  throw notConfigured(device, message, `Set ${keyName} again, without them.`);
}

function sentence(
  kind: LlmErrorKind,
  endpoint: Endpoint,
  what: string,
  retryAfterMs: number | undefined,
): string {
  const { vendor, keyName, baseUrl, loginHint } = endpoint;
  if (kind === "auth" && loginHint !== undefined) return `${vendor} refused the credentials (${what})`;
  if (kind === "auth") return `${vendor} refused the API key in ${keyName} (${what})`;
  if (kind === "model_not_found")
    return `${vendor} at ${shownUrl(baseUrl)} does not have the model (${what})`;
  if (kind === "rate_limit" && retryAfterMs !== undefined)
    return `${vendor} limits the rate: again in ${Math.ceil(retryAfterMs / 1000)} s (${what})`;
  return `${vendor} answered ${what}`;
}

function hintFor(
  kind: LlmErrorKind,
  endpoint: Endpoint,
  { status, message, near = [] }: ErrorAnswer,
): string | undefined {
  if (kind === "auth")
    return (
      endpoint.loginHint ?? `Set ${endpoint.keyName} to a key that is valid at ${shownUrl(endpoint.baseUrl)}.`
    );
  if (kind === "model_not_found" && status === 404 && URL.parse(endpoint.baseUrl)?.pathname === "/")
    return "Name another model with --model, or check the base URL: those of many servers end in /v1.";
  if (kind === "model_not_found" && near.length > 0)
    return `Name another model with --model (near: ${near.join(", ")}), or check the base URL.`;
  if (kind === "model_not_found") return "Name another model with --model, or check the base URL.";
  if (kind === "overloaded" || kind === "server")
    return "Try again later, or let another model answer (--fallback-model).";
  if (kind === "quota") return `Check plan and billing of your ${endpoint.vendor} account.`;
  if (kind === "media") return MEDIA_HINT;
  if (kind === "forbidden")
    return "Use another key or model (-m), or let its owner allow this model to the key.";
  if (kind === "rate_limit") return "Try again later, or let another model answer (--fallback-model).";
  if (kind === "refusal") return REFUSAL_HINT;
  if (status !== undefined && status >= 300 && status < 400) return "Check the base URL.";
  if (kind === "invalid") return INVALID_HINTS.find(({ words }) => words.test(message))?.hint ?? INVALID_HINT;
  return undefined;
}

const MEDIA_HINT =
  "It was taken out of the conversation, which you can continue: give a smaller one, or one of another type.";

const INVALID_HINT =
  "The same request will be refused again: try another model (-m), or a fresh conversation; `crux doctor` shows what is set up.";

/** What servers refuse that know less than Crux sends. */
const INVALID_HINTS: readonly { readonly words: RegExp; readonly hint: string }[] = [
  {
    // of the template that makes a text of a conversation
    words:
      /roles? must alternate|alternat\w+ (?:between )?user\W|(?:only|unexpected|unknown|unsupported) .{0,20}\broles?\b|\braise_exception\b/i,
    hint:
      "The model's chat template takes no calls of tools and their results: use another model (-m), or a template with " +
      "support for tools at the server.",
  },
  {
    words:
      /tool[_ -]?(?:choice|call|use)\w*.{0,60}(?:not supported|unsupported|requires|enable)|does not support (?:tools|function)/i,
    hint: "This model, or its server as it was started, takes no tools: use another one (-m).",
  },
];

/**
 * The delay of `retry-after-ms`, or of `retry-after` (seconds or an HTTP date), in ms. A date is read by the server's own
 * clock, where it says what that shows. undefined: no valid header, or a time that has passed.
 */
export function retryAfter(headers: Headers, nowMs: number = Date.now()): number | undefined {
  const fine = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (fine > 0) return Math.ceil(fine);
  const value = headers.get("retry-after")?.trim() ?? "";
  const itsClock = Date.parse(headers.get("date") ?? "");
  const until = Date.parse(value) - (Number.isNaN(itsClock) ? nowMs : itsClock);
  const delayMs = /^-?[\d.]+$/.test(value) ? Number(value) * 1000 : until;
  return delayMs > 0 ? Math.ceil(delayMs) : undefined;
}

const WAIT = /\b(?:try again|retry) (?:in|after) (?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+) ?(ms|s))?/i;

/** The delay in the words of a refusal, as "try again in 1m2.5s", where nothing else names one, in ms. */
function waitInWords(message: string): number | undefined {
  const [, hours = 0, minutes = 0, rest = 0, unit] = WAIT.exec(message) ?? [];
  const restMs = Number(rest) * (unit?.toLowerCase() === "ms" ? 1 : 1000);
  const delayMs = (Number(hours) * 60 + Number(minutes)) * 60_000 + restMs;
  return delayMs > 0 ? Math.ceil(delayMs) : undefined;
}

/** The URL without user, password and query. */
function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "the base URL" : `${parsed.origin}${parsed.pathname}`.replace(/\/$/, "");
}

const maxChars = 500;

function clean(text: string, secret: string): string {
  const bare =
    secret === "" ? text : spellings(secret).reduce((left, each) => left.replaceAll(each, "[key]"), text);
  const masked = bare.replace(/\b(sk|key|xai)-[\w*.-]{6,}/g, "[key]");
  return masked.length > maxChars ? `${masked.slice(0, maxChars)}…` : masked;
}

/** What is given to a server that wants any key, as `x` or `none`, is in every other word. */
const LEAST_SECRET_CHARS = 8;

/** The forms in which servers echo a credential: plain, as in a URL, as in a header of basic authentication. */
function spellings(secret: string): readonly string[] {
  if (secret.length < LEAST_SECRET_CHARS) return [];
  const base64 = Buffer.from(secret).toString("base64");
  return [secret, encodeURIComponent(secret), base64, base64.replace(/=+$/, "")];
}

function socketCode(error: unknown): string | undefined {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    if (e instanceof AggregateError && e.errors.length > 0) return socketCode(e.errors[0]);
    if ("code" in e && typeof e.code === "string") return e.code;
  }
  return undefined;
}

function deepestMessage(error: unknown): string {
  let message = String(error);
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++)
    message = e.message;
  return message;
}
