/** The dialog's text, safe to show: nothing hidden, nothing that reorders what a person reads, nothing endless. */
import type { PermissionView } from "../abi/effects.ts";
import { countLines } from "./text.ts";
import type { Dialog } from "./tool.ts";

const MAX_CHARS = 4000;
const MAX_OPERATION_CHARS = 300;

export function permissionView(tool: string, dialog: Dialog): PermissionView {
  const warnings = [...(dialog.warnings ?? [])];
  const show = (name: string, text: string) => {
    const escaped = escapeHidden(text);
    if (escaped.length > MAX_CHARS) warnings.push(`${name} is shown in part: ${text.length} characters`);
    return cutMiddle(escaped, MAX_CHARS);
  };
  const params = Object.fromEntries(
    Object.entries(dialog.params)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === "string" ? show(name, value) : value]),
  );
  const diff = dialog.diff === undefined ? {} : { diff: show("diff", dialog.diff) };
  return {
    tool,
    operation: cutMiddle(escapeHidden(dialog.operation).replaceAll(/[\n\t]+/g, " "), MAX_OPERATION_CHARS),
    params,
    ...diff,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Control and format characters (bidirectional ones among them) as `\u{…}`; newline and tab stay. */
function escapeHidden(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char === "\n" || char === "\t" ? char : `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
}

/** Both ends stay: what counts may stand last. Of lines, whole ones where they are not too long for it. */
function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const room = Math.floor(max / 2) - 20;
  const head = text.slice(0, text.lastIndexOf("\n", room) + 1);
  const tail = text.slice(text.indexOf("\n", text.length - 1 - room) + 1);
  if (head.length > room / 2 && tail.length > room / 2 && tail.length <= room) {
    const left = countLines(text.slice(head.length, text.length - tail.length));
    return `${head.toWellFormed()}… ${left} lines more …\n${tail.toWellFormed()}`;
  }
  const half = Math.floor(max / 2) - 5;
  return `${text.slice(0, half).toWellFormed()} [...] ${text.slice(-half).toWellFormed()}`;
}
