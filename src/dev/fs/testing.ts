/** Test helpers for /dev/fs: the device with real OS children, and PDFs. */
import { afterAll } from "vitest";
import type { Device } from "../../abi/device.ts";
import { HostProcesses } from "../host/exec.ts";
import { realPath } from "../host/real-path.ts";
import { fsDevice } from "./device.ts";
import type { CheckRoom } from "./replace.ts";

/**
 * Shared by all tests of a file; the children are ended after the last test. Secret paths are `.env` and everything
 * in `aws`.
 */
export function fsForTests(checkRoom?: CheckRoom): { device: Device; exec: HostProcesses } {
  const exec = new HostProcesses({ kernelId: "k-fs", epoch: 1 });
  afterAll(() => exec.close());
  const isSecret = (path: string) => /\/(\.env|aws)(\/|$)/.test(path);
  return { device: fsDevice({ exec, realPath, env: process.env, isSecret, checkRoom }), exec };
}

/** A PDF with one line of text on each page. */
export function pdfOf(texts: readonly string[]): Buffer {
  const pages = texts.length;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages} /Kids [${texts.map((_, i) => `${4 + 2 * i} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...texts.flatMap((text, i) => {
      const stream = text === "" ? "" : `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
      const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * i} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`;
      return [page, `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`];
    }),
  ];
  const parts = ["%PDF-1.4\n"];
  const offsets: number[] = [];
  for (const [i, object] of objects.entries()) {
    offsets.push(parts.join("").length);
    parts.push(`${i + 1} 0 obj\n${object}\nendobj\n`);
  }
  const xref = parts.join("").length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`);
  parts.push(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`);
  return Buffer.from(parts.join(""), "latin1");
}
