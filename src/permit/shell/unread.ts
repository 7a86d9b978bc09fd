/** Thrown wherever a text turns out not to be readable with certainty; the message says why. */
export class Unread extends Error {}
