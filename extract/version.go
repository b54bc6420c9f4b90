package extract

// Version is the version of the rules that find the main text. Increase it with each change that
// gives some page a different text. Stores save the version with each text.
const Version = 23
