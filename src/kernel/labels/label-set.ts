/** Operations on sets of labels. Pure. */
import { LABEL_SOURCES, type Label, MAX_LABELS } from "../../abi/labels.ts";

const KINDS: readonly Label["kind"][] = ["untrusted", "secret"];
const DETAIL_CHARS = 200;
const SEVERAL = "several places";

/** Returns `have` itself if nothing is new. Too many labels are folded to one of each kind, so no kind is lost. */
export function uniteLabels(have: readonly Label[], more: readonly Label[]): readonly Label[] {
  const fresh: Label[] = [];
  for (const label of more.map(shortened))
    if (![...have, ...fresh].some((each) => isSame(each, label))) fresh.push(label);
  if (fresh.length === 0) return have;
  const all = [...have, ...fresh];
  return all.length <= MAX_LABELS ? all : folded(all);
}

function folded(all: readonly Label[]): readonly Label[] {
  return KINDS.flatMap((kind) => {
    const first = all.find((label) => label.kind === kind);
    return first === undefined ? [] : [{ ...first, detail: SEVERAL }];
  });
}

/** `which`: a source (`web`) or a label's whole detail; "all": every label. */
export function withoutLabels(have: readonly Label[], which: string): readonly Label[] {
  if (which === "all") return [];
  return have.filter(({ source, detail }) => source !== which && detail !== which);
}

/** Reads labels from a record. An invalid entry counts as an untrusted label, as it may have been one. */
export function readLabels(kept: unknown): readonly Label[] {
  return Array.isArray(kept) ? kept.map(readLabel) : [];
}

function readLabel(kept: unknown): Label {
  const { kind, source, detail } = (kept ?? {}) as Partial<Label>;
  return {
    kind: KINDS.find((each) => each === kind) ?? "untrusted",
    source: LABEL_SOURCES.find((each) => each === source) ?? "file",
    detail: typeof detail === "string" ? detail : "a place that was not understood",
  };
}

export function isSame(a: Label, b: Label): boolean {
  return a.kind === b.kind && a.source === b.source && a.detail === b.detail;
}

function shortened(label: Label): Label {
  if (label.detail.length <= DETAIL_CHARS) return label;
  return { ...label, detail: `${label.detail.slice(0, DETAIL_CHARS - 1).toWellFormed()}…` };
}
