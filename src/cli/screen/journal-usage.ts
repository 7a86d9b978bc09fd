import type { CollectWire, UsageWire } from "../../abi/journal/wire.ts";
import { byteSize } from "./byte-size.ts";
import { many } from "./journal-findings.ts";

const REASONS = { age: "old", space: "for room" } as const;
const WARN_SHARE = 0.8;

/** The screen of `crux gc`, without its final newline. */
export function collectScreen(report: CollectWire, isDryRun: boolean, isVerbose: boolean): string {
  const { processes, records, blobs, bytes, usage } = report;
  const verb = isDryRun ? "would go" : "removed";
  const histories = many(processes.length, "history", "histories");
  return [
    ...(isVerbose
      ? processes.map(({ pid, proc, reason }) => `  pid ${pid}  ${proc}  ${REASONS[reason]}`)
      : []),
    `[gc] ${verb}: ${histories} (${many(records, "record")}), ${many(blobs, "blob")}, about ${byteSize(bytes)}`,
    usageLine(usage),
  ].join("\n");
}

function usageLine(usage: UsageWire): string {
  const { database_bytes, blob_bytes, reusable_bytes, max_bytes, free_bytes } = usage;
  const used = database_bytes + blob_bytes;
  const percent = Math.floor((used / max_bytes) * 100);
  const reusable =
    reusable_bytes === 0 ? "" : `; ${byteSize(reusable_bytes)} in its file are free for what comes next`;
  return `[gc] the journal takes ${byteSize(used)} of ${byteSize(max_bytes)} (${percent} %)${reusable}; the disk has ${byteSize(free_bytes)} free`;
}

/** undefined: enough space is left. */
export function nearlyFull({ database_bytes, blob_bytes, max_bytes }: UsageWire): string | undefined {
  const percent = ((database_bytes + blob_bytes) / max_bytes) * 100;
  if (percent < WARN_SHARE * 100) return undefined;
  return `[gc] ${Math.floor(percent)} % of journal.maxBytes are used: raise it in settings.json, or let old histories go sooner (cleanupPeriodDays)`;
}
