/**
 * Labels for data that may not be trusted, or may not leave the machine. A process carries the labels of all it has
 * read.
 */

export interface Label {
  readonly kind: "untrusted" | "secret";
  readonly source: "web" | "mcp" | "file" | "peer" | "exec";
  /** The page, path, server or process, for display. At most 200 characters. */
  readonly detail: string;
}

export const LABEL_SOURCES: readonly Label["source"][] = ["web", "mcp", "file", "exec", "peer"];

/** The rule that lets data from this source leave, unless it is a secret. */
export function outwardRule(source: Label["source"]): string {
  return `outward(${source})`;
}

/** With more labels, they are merged to one for each kind, with the detail `several places`. */
export const MAX_LABELS = 32;
