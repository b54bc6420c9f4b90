package extract

// Version is the version of the rules that find the main text. It rises with each change that gives
// some page another text. Stores save it beside each text.
const Version = 10
