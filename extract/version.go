package extract

// Version is that of the main text: it rises with every change that gives some
// page another text, so that a store knows which one its texts are.
const Version = 10
