package language

// Word forms. The functions below look at canonical text one word at a time.
//
// [FunctionWord] recognizes articles, pronouns, prepositions and other function words of a
// language. It is a pure function of a language and one lower-cased token, with ' as its apostrophe.
// The language is a code as [Primary] or [Detect] returns it. In an unknown language, no word is a
// function word, and every word is returned unchanged.
//
// The functions look at a word without its neighbors, so they have to guess when a word has two
// uses. "that" is a pronoun or a conjunction, and is removed in either case. This does not harm a
// comparison of two texts, because both are treated the same way. But a text without its function
// words also loses its negations.
//
// The data is in files beside this one. The first lines of each file name its source and license.
