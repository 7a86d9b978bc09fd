/** Reads the server name of a TLS connection from its first bytes. Format: RFC 8446 4.1.2 and 5.1, RFC 6066 3. */

type ClientHello =
  /** The ClientHello is still incomplete. */
  | { readonly kind: "more" }
  | { readonly kind: "name"; readonly name: string }
  /** Not a ClientHello, or one that hides its server name. */
  | { readonly kind: "bad"; readonly why: string };

const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
/** Encrypted ClientHello: the real name is encrypted; the readable one is a stand-in. */
const ENCRYPTED_HELLO = 0xfe0d;
/** Bound on the bytes that are examined. */
export const maxHelloBytes = 64 * 1024;

const MORE: ClientHello = { kind: "more" };
const bad = (why: string): ClientHello => ({ kind: "bad", why });

export function readClientHello(bytes: Buffer): ClientHello {
  const body = handshakeOf(bytes);
  if (!Buffer.isBuffer(body)) return body;
  if (body.length < 4) return MORE;
  if (body[0] !== CLIENT_HELLO) return bad("it does not begin with a ClientHello");
  const length = body.readUIntBE(1, 3);
  if (length > maxHelloBytes) return bad("its ClientHello is too long");
  if (body.length < 4 + length) return MORE;
  try {
    return nameIn(body.subarray(4, 4 + length));
  } catch {
    return bad("its ClientHello cannot be read");
  }
}

/** Joins the payloads of the TLS records received so far. */
function handshakeOf(bytes: Buffer): Buffer | ClientHello {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE) return bad("it is not TLS");
    if (bytes.length - at < 5) break;
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    parts.push(bytes.subarray(at + 5, end));
    at = end;
  }
  return Buffer.concat(parts);
}

/** Throws RangeError if a length points beyond the end. */
function nameIn(hello: Buffer): ClientHello {
  let at = 2 + 32;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  let name: string | undefined;
  for (at += 2; at < hello.length; at += 4 + hello.readUInt16BE(at + 2)) {
    const type = hello.readUInt16BE(at);
    if (type === ENCRYPTED_HELLO) return bad("it encrypts its server name");
    if (type !== SERVER_NAME) continue;
    if (name !== undefined) return bad("it has two server names");
    const start = at + 4 + 5;
    const end = start + hello.readUInt16BE(at + 4 + 3);
    if (end > hello.length) return bad("its server name cannot be read");
    name = hello.toString("latin1", start, end).toLowerCase();
  }
  return name === undefined ? bad("it names no server") : { kind: "name", name };
}
