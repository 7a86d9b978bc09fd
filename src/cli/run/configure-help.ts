import { en } from "../screen/words/en.ts";

/** Printed after a run that a script answered: the ways to a real model. */
export const CONFIGURE_LINES = en.login.ways;
