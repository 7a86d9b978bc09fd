/** Maps the program's failures to error kinds. */
import { LlmError } from "../../abi/llm-error.ts";
import { notConfigured } from "../http/failure.ts";
import { kindOf } from "../http/kinds.ts";
import { type Json, stringOf } from "../json.ts";

export const CLAUDE_DEVICE = "/dev/llm/claude";

export const INSTALL_HINT = "npm install -g @anthropic-ai/claude-code, then run `claude` and log in";
const loginHint = "Run `claude` and log in (/login), then try again.";

export function notInstalled(): LlmError {
  return notConfigured(CLAUDE_DEVICE, "the program `claude` is not on the PATH", INSTALL_HINT);
}

/** The error of a `result` line that came instead of a reply. */
export function resultError(result: Json): LlmError {
  const errors = [result.errors].flat().map(stringOf).filter(Boolean).join("; ");
  const text = (stringOf(result.result) || errors || stringOf(result.subtype) || "no explanation").slice(
    0,
    500,
  );
  if (/not logged in|please run \/login|oauth token (has )?expired/i.test(text))
    return notConfigured(CLAUDE_DEVICE, "the program `claude` is not logged in", loginHint);
  const status = typeof result.api_error_status === "number" ? result.api_error_status : undefined;
  const message = `claude: ${text}`;
  if (result.terminal_reason === "prompt_too_long")
    return new LlmError({ kind: "prompt_too_long", device: CLAUDE_DEVICE, message, status });
  if (/(usage|session|weekly|5-hour) limit/i.test(text))
    return new LlmError({ kind: "quota", device: CLAUDE_DEVICE, message, status });
  if (status === undefined && stringOf(result.api_error) === "connection_failed")
    return new LlmError({ kind: "connection", device: CLAUDE_DEVICE, message });
  const kind = kindOf({ status, type: stringOf(result.api_error_type), code: "", message: text });
  return new LlmError({
    kind,
    device: CLAUDE_DEVICE,
    message,
    status,
    hint: kind === "auth" ? loginHint : undefined,
  });
}

/** The error when the program ended without a reply or a result. */
export function exitError(
  exit: { code: number | null; signal: string | null; error?: Error },
  stderr: string,
  secret: string,
): LlmError {
  if (exit.error !== undefined)
    return notConfigured(CLAUDE_DEVICE, `claude did not start: ${exit.error.message}`, INSTALL_HINT);
  const said = (secret === "" ? stderr : stderr.replaceAll(secret, "[key]")).trim().slice(-500);
  const how = exit.signal === null ? `with exit code ${exit.code ?? "?"}` : `by ${exit.signal}`;
  return new LlmError({
    kind: "server",
    device: CLAUDE_DEVICE,
    message: `claude ended ${how} without a reply${said === "" ? "" : `: ${said}`}`,
    hint: /unknown option/.test(said) ? "Update it: npm install -g @anthropic-ai/claude-code" : undefined,
  });
}
