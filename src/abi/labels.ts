/** Where data came from that may not be trusted, or may not leave. A process has the union over what it has read. */

export interface Label {
  readonly kind: "untrusted" | "secret";
  readonly source: "web" | "mcp" | "file" | "peer" | "exec";
  /** The page, path, server or process: shown to a person. At most 200 characters. */
  readonly detail: string;
}

export const LABEL_SOURCES: readonly Label["source"][] = ["web", "mcp", "file", "exec", "peer"];

/** The rule that lets what was read from there leave, unless it is a secret. */
export function outwardRule(source: Label["source"]): string {
  return `outward(${source})`;
}

/** Beyond, they fold to one for each kind, with the detail `several places`. */
export const MAX_LABELS = 32;
