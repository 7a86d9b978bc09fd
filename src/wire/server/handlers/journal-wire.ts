/** Reports of the journal's tools with the keys of the wire, in the order shown to users. */
import type { CheckWire, CollectWire, FindingWire, VerifyWire } from "../../../abi/journal/wire.ts";
import type {
  CheckReport,
  CollectReport,
  Finding,
  VerifyReport,
} from "../../../kernel/ports/journal-tools.ts";

export function findingWire({ code, severity, pid, proc, seq, lsn, detail, repair }: Finding): FindingWire {
  return {
    ...{ code, severity },
    ...(pid === undefined ? {} : { pid }),
    ...(proc === undefined ? {} : { proc }),
    ...(seq === undefined ? {} : { seq }),
    ...(lsn === undefined ? {} : { lsn }),
    detail,
    ...(repair === undefined ? {} : { repair }),
  };
}

export function checkWire({ processes, records, blobs, elapsedMs, findings }: CheckReport): CheckWire {
  return { processes, records, blobs, elapsed_ms: elapsedMs, findings: findings.map(findingWire) };
}

export function verifyWire({ records, processes, anchors, ...rest }: VerifyReport): VerifyWire {
  return {
    ...{ records, processes, anchors },
    unchecked_anchors: rest.uncheckedAnchors,
    last_anchor: rest.lastAnchor,
    broken: rest.broken === null ? null : findingWire(rest.broken),
    elapsed_ms: rest.elapsedMs,
  };
}

export function collectWire({ usage, ...report }: CollectReport): CollectWire {
  return {
    ...report,
    usage: {
      database_bytes: usage.databaseBytes,
      reusable_bytes: usage.reusableBytes,
      blob_bytes: usage.blobBytes,
      blobs: usage.blobs,
      records: usage.records,
      processes: usage.processes,
      max_bytes: usage.maxBytes,
      free_bytes: usage.freeBytes,
    },
  };
}
