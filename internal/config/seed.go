package config

import (
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"skink/crawler/access"
)

// seeds takes the sections of seeds. They are used only by the main command, but their keys are
// checked for each.
func (p *parser) seeds(v any) error {
	for i, element := range elements(v) {
		section, isTable := element.(table)
		if !isTable {
			return errors.New("seed: write a section, which begins with [[seed]]")
		}
		if err := p.seed([]string{"seed", strconv.Itoa(i)}, section); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) seed(within []string, section table) error {
	seed, flags := access.Seed{}, pflag.NewFlagSet("seed", pflag.ContinueOnError)
	p.opt.Seed(&seed, flags)
	known := names(flags)
	err := p.each(within, section, func(path []string, v any) (err error) {
		if err = p.checkKey(path, known); err == nil {
			_, err = p.set(flags, path[2], v)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case seed.URL == "":
		return p.at(within, errors.New("seed: the section has no url"))
	case slices.ContainsFunc(p.file.Seeds, func(s access.Seed) bool { return s.URL == seed.URL }):
		return p.at(append(within, "url"), errors.New("seed: an earlier section has the same url"))
	}
	p.file.Seeds = append(p.file.Seeds, seed)
	return nil
}
