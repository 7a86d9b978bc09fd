import type { CheckWire, FindingWire, VerifyWire } from "../../abi/journal/wire.ts";
import { seconds } from "./text/elapsed.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine } from "./text/safe-text.ts";

const CODE_COLUMNS = 20;

/** The whole screen of a check, without its final newline. */
export function checkScreen(report: CheckWire, paint: Paint, isFull: boolean): string {
  const { findings, processes, records, blobs, elapsed_ms, repaired } = report;
  const of = [
    many(processes, "process", "processes"),
    many(records, "record"),
    ...(isFull ? [many(blobs, "blob")] : []),
  ];
  return [
    ...(repaired === undefined ? [] : repairLines(repaired, paint)),
    ...findings.map((finding) => findingLine(finding, paint)),
    `[fsck] ${of.join(", ")} checked in ${seconds(elapsed_ms)}: ${verdict(findings)}`,
  ].join("\n");
}

function repairLines(
  { findings, done, quarantine }: NonNullable<CheckWire["repaired"]>,
  paint: Paint,
): string[] {
  return [
    ...findings.map((finding) => findingLine(finding, paint)),
    ...done.map((line) => `[fsck] repaired: ${safeLine(line)}`),
    `[fsck] what was touched is kept in ${safeLine(quarantine)}`,
  ];
}

function findingLine(finding: FindingWire, paint: Paint): string {
  const { code, severity, detail, repair } = finding;
  const mark = severity === "damage" ? paint.red("✗") : paint.dim("·");
  const line = `${mark} ${code.padEnd(CODE_COLUMNS)} ${placeOf(finding)}${safeLine(detail)}`;
  return repair === undefined
    ? line
    : `${line}\n${" ".repeat(CODE_COLUMNS + 3)}→ repair: ${safeLine(repair)}`;
}

/** `pid 3, record 41, lsn 1201: `; empty if the finding concerns no record. */
function placeOf({ pid, proc, seq, lsn }: FindingWire): string {
  const parts = [
    ...(pid === undefined ? (proc === undefined ? [] : [proc]) : [`pid ${pid}`]),
    ...(seq === undefined ? [] : [`record ${seq}`]),
    ...(lsn === undefined ? [] : [`lsn ${lsn}`]),
  ];
  return parts.length === 0 ? "" : `${parts.join(", ")}: `;
}

function verdict(findings: readonly FindingWire[]): string {
  const damage = findings.filter(({ severity }) => severity === "damage").length;
  const notices = findings.length - damage;
  if (findings.length === 0) return "clean";
  return [
    ...(damage === 0 ? ["clean"] : [`${damage} damaged`]),
    ...(notices === 0 ? [] : [many(notices, "notice")]),
  ].join(", ");
}

export function verifyScreen(report: VerifyWire, paint: Paint): string {
  const {
    records,
    processes,
    anchors,
    unchecked_anchors: unchecked,
    last_anchor: last,
    broken,
    elapsed_ms,
  } = report;
  const of = `${many(processes, "process", "processes")}, ${many(records, "record")}, ${many(anchors, "root")}`;
  if (broken !== null)
    return [
      `${paint.red("✗")} broken: ${broken.code}: ${placeOf(broken)}${safeLine(broken.detail)}`,
      `[audit] ${of} hold before it`,
    ].join("\n");
  return [
    `[audit] the chain holds: ${of} in ${seconds(elapsed_ms)}`,
    ...(unchecked === 0
      ? []
      : [
          `[audit] ${many(unchecked, "root")} of them over histories that were removed since: not made again`,
        ]),
    ...(last === null ? [] : [`[audit] last root ${last.root} over lsn 1 to ${last.lsn}`]),
  ].join("\n");
}

export function many(count: number, one: string, more = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
}
