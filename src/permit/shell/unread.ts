/** Why a text is not read with certainty, thrown from wherever that shows. */
export class Unread extends Error {}
