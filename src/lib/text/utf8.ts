/** The bytes of a text that was cut anywhere, without the characters broken by the cut. */

export function withoutBrokenEnd(bytes: Buffer): Buffer {
  let start = bytes.byteLength - 1;
  while (start > bytes.byteLength - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + needed > bytes.byteLength ? bytes.subarray(0, start) : bytes;
}

export function withoutBrokenStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
