/** Images: the format and size from the first bytes. */
export interface ImageHead {
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  /** Pixels; 0 if the file does not say. */
  readonly width: number;
  readonly height: number;
}

/** undefined: not one of the four formats. */
export function findImage(bytes: Buffer): ImageHead | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return { mediaType: "image/png", ...pngSize(bytes) };
  if (start.startsWith("\xff\xd8\xff")) return { mediaType: "image/jpeg", ...jpegSize(bytes) };
  if (/^GIF8[79]a/.test(start)) return { mediaType: "image/gif", ...gifSize(bytes) };
  if (start.startsWith("RIFF") && start.endsWith("WEBP"))
    return { mediaType: "image/webp", ...webpSize(bytes) };
  return undefined;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const UNKNOWN: Size = { width: 0, height: 0 };

function pngSize(bytes: Buffer): Size {
  if (bytes.byteLength < 24) return UNKNOWN;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): Size {
  if (bytes.byteLength < 10) return UNKNOWN;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** The size is in the frame header, after segments that each state their length. */
function jpegSize(bytes: Buffer): Size {
  for (let at = 2; at + 9 <= bytes.byteLength && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return UNKNOWN;
}

/** Handles the three forms of WebP. */
function webpSize(bytes: Buffer): Size {
  if (bytes.byteLength < 30) return UNKNOWN;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return UNKNOWN;
  }
}
